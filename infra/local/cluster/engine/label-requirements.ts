import type { ApiObject } from "../types.ts";
import { LabelTokenReader } from "./label-tokens.ts";
import { labelValueProblems, qualifiedNameProblems } from "./names.ts";
import type { ParsedSelector } from "./selectors.ts";

type Labels = Readonly<Record<string, string>>;
type Requirement = (labels: Labels) => boolean;

const OPERATORS: ReadonlySet<string> = new Set(["in", "notin", "=", "==", "!=", ">", "<"]);

/** Why a text is no selector, in Kubernetes' words. Thrown and caught in this file alone: the grammar is nested. */
class Misread extends Error {}

/** Understands a label selector: equality-based, set-based and order requirements, joined by commas. */
export function parseLabelSelector(text: string): ParsedSelector {
  try {
    const requirements = readAll(new LabelTokenReader(text));
    return { selects: ({ metadata }: ApiObject) => requirements.every((r) => r(metadata.labels ?? {})) };
  } catch (error) {
    if (error instanceof Misread) return { problem: error.message };
    throw error;
  }
}

function readAll(tokens: LabelTokenReader): readonly Requirement[] {
  const requirements: Requirement[] = [];
  while (tokens.peek().kind !== "end") {
    const { kind, text } = tokens.peek();
    const begins = kind === "word" || text === "!";
    if (!begins && requirements.length === 0)
      throw new Misread(`found '${text}', expected: !, identifier, or 'end of string'`);
    if (!begins) throw new Misread(`found '${text}', expected: identifier after ','`);
    requirements.push(readOne(tokens));
    if (tokens.peek().kind === "end") break;
    const { text: next } = tokens.take();
    if (next !== ",") throw new Misread(`found '${next}', expected: ',' or 'end of string'`);
    if (tokens.peek().kind === "end") throw new Misread("found '', expected: identifier after ','");
  }
  return requirements;
}

function readOne(tokens: LabelTokenReader): Requirement {
  try {
    return readRequirement(tokens);
  } catch (error) {
    throw error instanceof Misread ? new Misread(`unable to parse requirement: ${error.message}`) : error;
  }
}

function readRequirement(tokens: LabelTokenReader): Requirement {
  const absent = tokens.isAt("!");
  if (absent) tokens.take();
  const key = readWord(tokens);
  const wrong = qualifiedNameProblems(key)[0];
  if (wrong !== undefined) throw new Misread(`<nil>: Invalid value: "${key}": ${wrong}`);
  if (absent) return (labels) => !Object.hasOwn(labels, key);
  if (tokens.isAtEnd()) return (labels) => Object.hasOwn(labels, key);
  const { text: operator } = tokens.take();
  if (!OPERATORS.has(operator)) {
    throw new Misread(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
  }
  const isSet = operator === "in" || operator === "notin";
  const values = isSet ? readSet(tokens) : [readExact(tokens)];
  return operator === ">" || operator === "<" ? ordered(key, operator, values) : equal(key, operator, values);
}

/** The value after an operator; `a=` and `a=,b` have an empty one. */
function readExact(tokens: LabelTokenReader): string {
  return tokens.isAtEnd() ? "" : readWord(tokens);
}

function readWord(tokens: LabelTokenReader): string {
  const { kind, text } = tokens.take();
  if (kind !== "word") throw new Misread(`found '${text}', expected: identifier`);
  return text;
}

/** `(a, b)`; what is left out between commas is the empty value. */
function readSet(tokens: LabelTokenReader): readonly string[] {
  const { text: open } = tokens.take();
  if (open !== "(") throw new Misread(`found '${open}' expected: '('`);
  const values: string[] = [];
  for (;;) {
    values.push(tokens.peek().kind === "word" ? tokens.take().text : "");
    const { kind, text } = tokens.take();
    if (kind === "symbol" && text === ")") return [...new Set(values)].toSorted();
    if (kind !== "symbol" || text !== ",") throw new Misread(`found '${text}', expected: ',' or ')'`);
  }
}

function equal(key: string, operator: string, values: readonly string[]): Requirement {
  values.forEach((value, i) => {
    const wrong = labelValueProblems(value)[0];
    if (wrong !== undefined) throw new Misread(`values[${i}][${key}]: Invalid value: "${value}": ${wrong}`);
  });
  const wanted = operator !== "!=" && operator !== "notin";
  return (labels) => {
    const value = labels[key];
    return (value !== undefined && values.includes(value)) === wanted;
  };
}

function ordered(key: string, operator: string, [value = ""]: readonly string[]): Requirement {
  if (!/^[-+]?\d+$/.test(value)) {
    throw new Misread(
      `values[0]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  const limit = Number(value);
  return (labels) => {
    const label = labels[key] ?? "";
    if (!/^[-+]?\d+$/.test(label)) return false;
    return operator === ">" ? Number(label) > limit : Number(label) < limit;
  };
}
