import { isJsonArray, isJsonObject, type JsonObject } from "../json.ts";
import { cannotUnmarshal } from "../metadata.ts";
import type { Schema } from "./schema.ts";
import { canonicalText, textProblem } from "./text-forms.ts";

/**
 * Reads a built-in object in place, as Go's typed decoder does: nulls and what is empty vanish, unknown fields are dropped
 * and reported, a value of another type is an error.
 * @returns the decoder's complaint, or nothing
 */
export function decodeTyped(object: JsonObject, schema: Schema, unknown: (path: string) => void): string | undefined {
  const kind = typeof object["kind"] === "string" ? object["kind"] : "";
  for (const key of Object.keys(object)) {
    if (key === "apiVersion" || key === "kind" || key === "metadata") continue;
    const wrong = decodeField(object, key, schema, { path: key, shown: key, struct: kind, unknown });
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const INT32_MAX = 2 ** 31 - 1;

interface Place {
  /** The path in the words of Go: without indices and keys of maps. */
  readonly path: string;
  /** The path as it is. */
  readonly shown: string;
  readonly struct: string;
  readonly unknown: (path: string) => void;
}

function decodeField(parent: JsonObject, key: string, schema: Schema, place: Place): string | undefined {
  const known = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
  const child = known ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined);
  if (child === undefined) {
    if (schema["x-kubernetes-preserve-unknown-fields"] === true) return undefined;
    delete parent[key];
    place.unknown(place.shown);
    return undefined;
  }
  const value = parent[key];
  const inMap = known === undefined;
  if (value === null || value === undefined || (!inMap && isDropped(value, child))) {
    delete parent[key];
    return undefined;
  }
  const wrong = decodeValue(value, child, place);
  if (wrong === undefined && typeof value === "string") parent[key] = canonicalText(value, child.format ?? "");
  return wrong;
}

/** Empty lists, maps and texts are left out unless the field is a pointer (`nullable` in our schemas) or a struct. */
function isDropped(value: unknown, schema: Schema): boolean {
  if (schema.nullable === true) return false;
  if (value === "") return true;
  if (isJsonArray(value)) return value.length === 0 && schema.type === "array";
  return isJsonObject(value) && schema.additionalProperties !== undefined && Object.keys(value).length === 0;
}

function decodeValue(value: unknown, schema: Schema, place: Place): string | undefined {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return undefined;
  const wrong = (goType: string): string => cannotUnmarshal(value, `${place.struct}.${place.path}`, goType);
  switch (schema.type) {
    case "object":
      return isJsonObject(value) ? decodeObject(value, schema, place) : wrong(goTypeOf(schema));
    case "array":
      return isJsonArray(value) ? decodeArray(value, schema, place) : wrong("[]struct");
    case "string":
      return typeof value === "string" ? textProblem(value, schema.format ?? "") : wrong("string");
    case "integer":
      return integerProblem(value, schema.format ?? "int64", wrong);
    case "boolean":
      return typeof value === "boolean" ? undefined : wrong("bool");
    case undefined:
      return typeof value === "string" || Number.isInteger(value) ? undefined : wrong("intstr.IntOrString");
    default:
      return undefined;
  }
}

function integerProblem(value: unknown, goType: string, wrong: (goType: string) => string): string | undefined {
  if (typeof value !== "number") return wrong(goType);
  const isTooLarge = goType === "int32" && (value > INT32_MAX || value < -INT32_MAX - 1);
  // Of numbers that do not fit, Go shows which one.
  return Number.isInteger(value) && !isTooLarge ? undefined : wrong(goType).replace("number", `number ${value}`);
}

/** The Go type of a map or struct, as far as a complaint names it. */
function goTypeOf({ additionalProperties }: Schema): string {
  return typeof additionalProperties === "object" && additionalProperties.type === "string"
    ? "map[string]string"
    : "struct";
}

function decodeObject(value: JsonObject, schema: Schema, place: Place): string | undefined {
  for (const key of Object.keys(value)) {
    const wrong = decodeField(value, key, schema, {
      ...place,
      // Keys of maps are no fields.
      path: Object.hasOwn(schema.properties ?? {}, key) ? `${place.path}.${key}` : place.path,
      ...(Object.hasOwn(schema.properties ?? {}, key) ? { struct: structOf(place) } : {}),
      shown: `${place.shown}.${key}`,
    });
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function decodeArray(value: readonly unknown[], schema: Schema, place: Place): string | undefined {
  const items = schema.items;
  if (items === undefined) return undefined;
  for (const [i, item] of value.entries()) {
    const wrong = decodeValue(item, items, { ...place, shown: `${place.shown}[${i}]` });
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** The Go type of a nested struct, by its name: that of `spec` in a Lease is LeaseSpec. */
function structOf(place: Place): string {
  const field = place.path.split(".").at(-1) ?? "";
  return place.path.includes(".") ? place.struct : `${place.struct}${field.slice(0, 1).toUpperCase()}${field.slice(1)}`;
}
