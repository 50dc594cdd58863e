import { type FieldError, invalid, notSupported, required, tooLong, tooMany, typeInvalid } from "../../field-error.ts";
import { equalJson, isJsonArray, isJsonObject, type JsonObject } from "../json.ts";
import { matchesFormat } from "./formats.ts";
import type { Schema } from "./schema.ts";

/** The stored value at the same place; on create there is none. */
type Old = { readonly value: unknown } | undefined;

/**
 * Checks a value against a schema, with the complaints of a kube-apiserver.
 * On update, what did not change is not checked again (ratcheting): `old` is the stored value.
 */
export function validateSchema(
  value: unknown,
  schema: Schema,
  old?: { readonly value: unknown },
): readonly FieldError[] {
  return check(value, schema, "", old);
}

function check(value: unknown, schema: Schema, path: string, old: Old): FieldError[] {
  if (old !== undefined && equalJson(value, old.value)) return [];
  const wrong = checkType(value, schema, path);
  if (wrong !== undefined) return [wrong];
  const errors: FieldError[] = [...checkEnum(value, schema, path)];
  if (typeof value === "string") errors.push(...checkText(value, schema, path));
  else if (typeof value === "number") errors.push(...checkNumber(value, schema, path));
  else if (isJsonArray(value)) errors.push(...checkArray(value, schema, path, old));
  else if (isJsonObject(value)) errors.push(...checkObject(value, schema, path, old));
  errors.push(...checkCombinations(value, schema, path));
  return errors;
}

function checkType(value: unknown, schema: Schema, path: string): FieldError | undefined {
  const intOrString = schema["x-kubernetes-int-or-string"] === true;
  const wanted = intOrString ? ["integer", "string"] : schema.type === undefined ? [] : [schema.type];
  const found = typeName(value);
  if (wanted.length === 0 || (value === null && schema.nullable === true)) return undefined;
  if (wanted.includes(found) || (found === "integer" && wanted.includes("number"))) return undefined;
  return typeInvalid(path, found, `${path} in body must be of type ${wanted.join(",")}: ${JSON.stringify(found)}`);
}

function typeName(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (isJsonArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function checkEnum(value: unknown, schema: Schema, path: string): FieldError[] {
  if (schema.enum === undefined || (value === null && schema.nullable === true)) return [];
  if (schema.enum.some((allowed) => equalJson(allowed, value))) return [];
  const allowed = schema.enum.map((item) => (typeof item === "string" ? item : JSON.stringify(item)));
  return [notSupported(path, value, allowed)];
}

/** Length and pattern: only the first complaint counts; the format is another matter. */
function checkText(value: string, schema: Schema, path: string): FieldError[] {
  const first = checkTextRules(value, schema, path);
  const errors = first === undefined ? [] : [first];
  if (schema.format !== undefined && !matchesFormat(schema.format, value)) {
    const detail = `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`;
    errors.push(typeInvalid(path, value, detail));
  }
  return errors;
}

function checkTextRules(value: string, schema: Schema, path: string): FieldError | undefined {
  const length = Array.from(value).length;
  if (schema.maxLength !== undefined && length > schema.maxLength) return tooLong(path, schema.maxLength);
  if (schema.minLength !== undefined && length < schema.minLength) {
    return invalid(path, value, `${path} in body should be at least ${schema.minLength} chars long`);
  }
  if (schema.pattern === undefined || matchesPattern(schema.pattern, value)) return undefined;
  return invalid(path, value, `${path} in body should match '${schema.pattern}'`);
}

const patterns = new Map<string, RegExp>();

/** Go's and JavaScript's expressions differ in corners only; `(?i)` at the start is the one that CRDs use. */
function matchesPattern(pattern: string, value: string): boolean {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = pattern.startsWith("(?i)") ? new RegExp(pattern.slice(4), "iu") : new RegExp(pattern, "u");
    patterns.set(pattern, compiled);
  }
  return compiled.test(value);
}

function checkNumber(value: number, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { minimum, maximum, multipleOf } = schema;
  if (multipleOf !== undefined && value % multipleOf !== 0) {
    errors.push(invalid(path, value, `${path} in body should be a multiple of ${multipleOf}`));
  }
  const tooBig = maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum);
  if (tooBig) {
    const words = schema.exclusiveMaximum === true ? "less than" : "less than or equal to";
    errors.push(invalid(path, value, `${path} in body should be ${words} ${maximum}`));
  }
  const tooSmall = minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum);
  if (tooSmall) {
    const words = schema.exclusiveMinimum === true ? "greater than" : "greater than or equal to";
    errors.push(invalid(path, value, `${path} in body should be ${words} ${minimum}`));
  }
  return errors;
}

function checkArray(value: readonly unknown[], schema: Schema, path: string, old: Old): FieldError[] {
  const errors: FieldError[] = [];
  const items = schema.items;
  if (items !== undefined) {
    value.forEach((item, i) => errors.push(...check(item, items, `${path}[${i}]`, oldItem(item, schema, old))));
  }
  if (schema.minItems !== undefined && value.length < schema.minItems) {
    errors.push(invalid(path, value.length, `${path} in body should have at least ${schema.minItems} items`));
  }
  if (schema.maxItems !== undefined && value.length > schema.maxItems) {
    errors.push(tooMany(path, value.length, schema.maxItems));
  }
  if (schema.uniqueItems === true && new Set(value.map((v) => JSON.stringify(v))).size < value.length) {
    errors.push(invalid(path, "", `${path} in body shouldn't contain duplicates`));
  }
  return errors;
}

/** The stored item that corresponds to an item of a list of type map; other lists have none. */
function oldItem(item: unknown, schema: Schema, old: Old): Old {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (keys === undefined || !isJsonArray(old?.value) || !isJsonObject(item)) return undefined;
  const found = old.value.find((o) => isJsonObject(o) && keys.every((key) => equalJson(o[key], item[key])));
  return found === undefined ? undefined : { value: found };
}

function checkObject(value: JsonObject, schema: Schema, path: string, old: Old): FieldError[] {
  const errors: FieldError[] = [];
  const keys = Object.keys(value);
  if (schema.minProperties !== undefined && keys.length < schema.minProperties) {
    errors.push(invalid(path, keys.length, `${path} in body should have at least ${schema.minProperties} properties`));
  }
  if (schema.maxProperties !== undefined && keys.length > schema.maxProperties) {
    errors.push(tooMany(path, keys.length, schema.maxProperties));
  }
  const oldObject = isJsonObject(old?.value) ? old.value : undefined;
  for (const key of keys) {
    const known = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    const child = known ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined);
    if (child === undefined) continue;
    const before = oldObject !== undefined && Object.hasOwn(oldObject, key) ? { value: oldObject[key] } : undefined;
    errors.push(...check(value[key], child, join(path, key), before));
  }
  for (const key of schema.required ?? []) if (!Object.hasOwn(value, key)) errors.push(required(join(path, key)));
  return errors;
}

function join(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function checkCombinations(value: unknown, schema: Schema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const results = (schemas: readonly Schema[] | undefined): FieldError[][] =>
    (schemas ?? []).map((s) => check(value, s, path, undefined));
  const any = results(schema.anyOf);
  if (any.length > 0 && any.every((r) => r.length > 0)) {
    errors.push(composite(path, "must validate at least one schema (anyOf)"), ...fewest(any));
  }
  const one = results(schema.oneOf);
  const matching = one.filter((r) => r.length === 0).length;
  if (one.length > 0 && matching !== 1) {
    const more = matching === 0 ? "Found none valid" : `Found ${matching} valid alternatives`;
    errors.push(composite(path, `must validate one and only one schema (oneOf). ${more}`));
    if (matching === 0) errors.push(...fewest(one));
  }
  const all = results(schema.allOf);
  const failing = all.filter((r) => r.length > 0);
  if (failing.length > 0) {
    const more = failing.length === all.length ? ". None validated" : "";
    errors.push(...failing.flat(), composite(path, `must validate all the schemas (allOf)${more}`));
  }
  if (schema.not !== undefined && check(value, schema.not, path, undefined).length === 0) {
    errors.push(composite(path, "must not validate the schema (not)"));
  }
  return errors;
}

/** Such complaints carry no field of their own; the path stands in the text. */
function composite(path: string, words: string): FieldError {
  return invalid("", "", `${JSON.stringify(path)} ${words}`);
}

function fewest(results: readonly FieldError[][]): readonly FieldError[] {
  return results.toSorted((a, b) => a.length - b.length)[0] ?? [];
}
