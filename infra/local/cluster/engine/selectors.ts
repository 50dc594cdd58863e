import type { ApiObject } from "../types.ts";
import { labelValueProblems, qualifiedNameProblems } from "./names.ts";

/** Says whether an object is selected. */
export type Selects = (object: ApiObject) => boolean;

/** A selector, or why it cannot be understood. */
export type ParsedSelector = { readonly selects: Selects } | { readonly problem: string };

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

const SET_BASED = /^(?<key>\S+)\s+(?<operator>in|notin)\s*\((?<values>[^()]*)\)$/;
const EQUALITY = /^(?<key>[^=!<>\s]+)\s*(?<operator>==|=|!=)\s*(?<value>[^=!<>\s]*)$/;
const ORDER = /^(?<key>[^=!<>\s]+)\s*(?<operator>[<>])\s*(?<value>-?\d+)$/;
const EXISTS = /^(?<not>!?)\s*(?<key>[^=!<>\s()]+)$/;

/** Understands a label selector: equality-based, set-based and order requirements, joined by commas. */
export function parseLabelSelector(text: string): ParsedSelector {
  const requirements: Requirement[] = [];
  for (const part of splitOutsideParentheses(text)) {
    const requirement = parseRequirement(part.trim());
    if (typeof requirement === "string") return { problem: requirement };
    requirements.push(requirement);
  }
  return { selects: ({ metadata }) => requirements.every((r) => r(metadata.labels ?? {})) };
}

function parseRequirement(text: string): Requirement | string {
  const set = SET_BASED.exec(text)?.groups;
  if (set !== undefined) {
    const values = (set["values"] ?? "").split(",").map((v) => v.trim());
    const wanted = set["operator"] === "in";
    return checked(set["key"] ?? "", values, (labels, key) => {
      const value = labels[key];
      return wanted ? value !== undefined && values.includes(value) : value === undefined || !values.includes(value);
    });
  }
  const equality = EQUALITY.exec(text)?.groups;
  if (equality !== undefined) {
    const value = equality["value"] ?? "";
    const wanted = equality["operator"] !== "!=";
    return checked(equality["key"] ?? "", [value], (labels, key) => (labels[key] === value) === wanted);
  }
  const order = ORDER.exec(text)?.groups;
  if (order !== undefined) {
    const limit = Number(order["value"]);
    const greater = order["operator"] === ">";
    return checked(order["key"] ?? "", [], (labels, key) => {
      const value = /^-?\d+$/.test(labels[key] ?? "") ? Number(labels[key]) : Number.NaN;
      return greater ? value > limit : value < limit;
    });
  }
  const exists = EXISTS.exec(text)?.groups;
  if (exists !== undefined) {
    const wanted = exists["not"] === "";
    return checked(exists["key"] ?? "", [], (labels, key) => Object.hasOwn(labels, key) === wanted);
  }
  return `unable to parse requirement: found '${text}', expected: identifier`;
}

function checked(
  key: string,
  values: readonly string[],
  test: (labels: Labels, key: string) => boolean,
): Requirement | string {
  const keyProblem = qualifiedNameProblems(key)[0];
  if (keyProblem !== undefined) return `unable to parse requirement: <nil>: Invalid value: "${key}": ${keyProblem}`;
  for (const value of values) {
    const problem = labelValueProblems(value)[0];
    if (problem !== undefined)
      return `unable to parse requirement: values[0][${key}]: Invalid value: "${value}": ${problem}`;
  }
  return (labels) => test(labels, key);
}

function splitOutsideParentheses(text: string): readonly string[] {
  return text.trim() === "" ? [] : text.split(/,(?![^(]*\))/);
}

/**
 * Understands a field selector: `=`, `==` and `!=`, joined by commas.
 * @param fieldsOf the fields that objects of the type can be selected by
 * @param refuse the complaint about a field that the type cannot be selected by, or nothing
 */
export function parseFieldSelector(
  text: string,
  refuse: (field: string) => string | undefined,
  fieldsOf: (object: ApiObject) => Labels,
): ParsedSelector {
  const requirements: Requirement[] = [];
  for (const part of text.split(",").filter((p) => p !== "")) {
    const parsed = /^(?<field>[^=!]+)(?<operator>==|=|!=)(?<value>.*)$/.exec(part)?.groups;
    if (parsed === undefined) return { problem: `invalid selector: '${text}'; can't understand '${part}'` };
    const field = parsed["field"] ?? "";
    const problem = refuse(field);
    if (problem !== undefined) return { problem };
    const wanted = parsed["operator"] !== "!=";
    const value = (parsed["value"] ?? "").replaceAll(/\\(.)/g, "$1");
    requirements.push((fields) => ((fields[field] ?? "") === value) === wanted);
  }
  return { selects: (object) => requirements.every((r) => r(fieldsOf(object))) };
}
