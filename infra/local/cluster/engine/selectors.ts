import type { ApiObject } from "../types.ts";

/** Says whether an object is selected. */
export type Selects = (object: ApiObject) => boolean;

/** A selector, or why it cannot be understood. */
export type ParsedSelector = { readonly selects: Selects } | { readonly problem: string };

type Fields = Readonly<Record<string, string>>;

const TERM = /^(?<field>[^=]*?)(?<operator>!=|==|=)(?<value>[^]*)$/;

/**
 * Understands a field selector: `=`, `==` and `!=`, joined by commas; backslashes escape commas, equals signs and themselves
 * in values.
 * @param fieldsOf the fields that objects of the type can be selected by
 * @param refuse the complaint about a field that the type cannot be selected by, or nothing
 */
export function parseFieldSelector(
  text: string,
  refuse: (field: string) => string | undefined,
  fieldsOf: (object: ApiObject) => Fields,
): ParsedSelector {
  const requirements: ((fields: Fields) => boolean)[] = [];
  for (const part of splitTerms(text)) {
    const parsed = TERM.exec(part)?.groups;
    if (parsed === undefined) return { problem: `invalid selector: '${text}'; can't understand '${part}'` };
    const field = parsed["field"] ?? "";
    const value = unescaped(parsed["value"] ?? "");
    const problem = "problem" in value ? value.problem : refuse(field);
    if (problem !== undefined) return { problem };
    const wanted = parsed["operator"] !== "!=";
    requirements.push((fields) => ("text" in value && (fields[field] ?? "") === value.text) === wanted);
  }
  return { selects: (object) => requirements.every((r) => r(fieldsOf(object))) };
}

/** Parted at commas that are not escaped; empty parts count for nothing. */
function splitTerms(text: string): readonly string[] {
  return [...text.matchAll(/(?:\\[^]|[^,\\]|\\$)+/g)].map(([term]) => term);
}

function unescaped(value: string): { readonly text: string } | { readonly problem: string } {
  const wrong = /\\[^]?|[=,]/.exec(value.replaceAll(/\\[\\,=]/g, ""))?.[0];
  if (wrong === undefined) return { text: value.replaceAll(/\\([\\,=])/g, "$1") };
  if (wrong.startsWith("\\")) return { problem: `invalid field selector: invalid escape sequence: ${wrong}` };
  return { problem: `invalid field selector: unescaped character in value: ${wrong.charCodeAt(0)}` };
}
