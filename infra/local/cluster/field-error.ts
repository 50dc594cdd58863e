/** One complaint about one field, in the words of apimachinery's `field.Error`. */
export interface FieldError {
  readonly type: keyof typeof WORDS;
  /** The path, for example `spec.leaders[0].clusterID`. */
  readonly field: string;
  /** What stands after the type: `"x": must be a number`. */
  readonly body: string;
}

const WORDS = {
  FieldValueNotFound: "Not found",
  FieldValueRequired: "Required value",
  FieldValueDuplicate: "Duplicate value",
  FieldValueInvalid: "Invalid value",
  FieldValueNotSupported: "Unsupported value",
  FieldValueForbidden: "Forbidden",
  FieldValueTooLong: "Too long",
  FieldValueTooMany: "Too many",
  FieldValueTypeInvalid: "Invalid value",
  InternalError: "Internal error",
} as const;

/** The field is missing or empty. */
export function required(field: string, detail = ""): FieldError {
  return make("FieldValueRequired", field, undefined, detail);
}

/** The value is malformed. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  return make("FieldValueInvalid", field, describe(value), detail);
}

/** The value has another type than the schema says. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return make("FieldValueTypeInvalid", field, describe(value), detail);
}

/** The value stands twice in a list of unique values. */
export function duplicate(field: string, value: unknown): FieldError {
  return make("FieldValueDuplicate", field, describe(value), "");
}

/** The value is none of the allowed ones. */
export function notSupported(field: string, value: unknown, allowed: readonly string[]): FieldError {
  const detail = allowed.length === 0 ? "" : `supported values: ${allowed.map((v) => JSON.stringify(v)).join(", ")}`;
  return make("FieldValueNotSupported", field, describe(value), detail);
}

/** The value is well-formed but not allowed here. */
export function fieldForbidden(field: string, detail: string): FieldError {
  return make("FieldValueForbidden", field, undefined, detail);
}

/** The value is longer than `max` bytes. */
export function tooLong(field: string, max: number): FieldError {
  return make("FieldValueTooLong", field, undefined, `may not be more than ${max} bytes`);
}

/** The list has more than `max` items. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return make("FieldValueTooMany", field, String(actual), `must have at most ${max} ${max === 1 ? "item" : "items"}`);
}

/** `field: body`, as the complaint stands in a message. */
export function describeFieldError(error: FieldError): string {
  return `${error.field}: ${error.body}`;
}

function make(type: FieldError["type"], field: string, value: string | undefined, detail: string): FieldError {
  const parts = [WORDS[type], ...(value === undefined ? [] : [value]), ...(detail === "" ? [] : [detail])];
  return { type, field: field === "" ? "<nil>" : field, body: parts.join(": ") };
}

/** A value as it stands in such messages; of what has fields, as JSON. */
function describe(value: unknown): string {
  return value === undefined || value === null ? `"null"` : JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
