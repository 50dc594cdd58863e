import { isJsonArray, isJsonObject, type JsonObject } from "../json.ts";
import { cannotUnmarshal } from "../metadata.ts";
import type { Schema } from "./schema.ts";

const MICRO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}(?:Z|[+-]\d{2}:\d{2})$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/;
const MICRO_LAYOUT = "2006-01-02T15:04:05.000000Z07:00";
const LAYOUT = "2006-01-02T15:04:05Z07:00";
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

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
  return decodeValue(value, child, place);
}

/** Empty lists, maps and texts are left out unless the field is a pointer (`nullable` in our schemas) or a struct. */
function isDropped(value: unknown, schema: Schema): boolean {
  if (schema.nullable === true) return false;
  if (value === "") return true;
  if (isJsonArray(value)) return value.length === 0;
  return isJsonObject(value) && schema.additionalProperties !== undefined && Object.keys(value).length === 0;
}

function decodeValue(value: unknown, schema: Schema, place: Place): string | undefined {
  if (schema["x-kubernetes-preserve-unknown-fields"] === true) return undefined;
  const wrong = (goType: string): string => cannotUnmarshal(value, `${place.struct}.${place.path}`, goType);
  switch (schema.type) {
    case "object":
      return isJsonObject(value) ? decodeObject(value, schema, place) : wrong("struct");
    case "array":
      return isJsonArray(value) ? decodeArray(value, schema, place) : wrong("[]struct");
    case "string":
      return typeof value === "string" ? checkText(value, schema.format ?? "") : wrong("string");
    case "integer":
      return Number.isInteger(value) ? undefined : wrong(schema.format ?? "int64");
    case "boolean":
      return typeof value === "boolean" ? undefined : wrong("bool");
    case undefined:
      return typeof value === "string" || Number.isInteger(value) ? undefined : wrong("intstr.IntOrString");
    default:
      return undefined;
  }
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

/** MicroTime takes six decimals and nothing else: three, as JavaScript writes them, are refused. */
function checkText(value: string, format: string): string | undefined {
  switch (format) {
    case "micro-time":
      return MICRO_TIME.test(value) ? undefined : cannotParse(value, MICRO_LAYOUT);
    case "date-time":
      return TIME.test(value) ? undefined : cannotParse(value, LAYOUT);
    case "byte": {
      const at = value.search(/[^A-Za-z0-9+/=\r\n]/);
      return BASE64.test(value) ? undefined : `illegal base64 data at input byte ${at < 0 ? value.length : at}`;
    }
    default:
      return undefined;
  }
}

/** Go's words about a time: what is left of the text where it stops to fit, and the part of the layout that stands there. */
function cannotParse(value: string, layout: string): string {
  const [, rest, more] = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}((?:\.\d{6})?(.*))$/.exec(value) ?? [];
  const longer = rest !== undefined && rest !== more;
  const part = rest === undefined ? "2006" : longer || layout === LAYOUT ? "Z07:00" : ".000000";
  const left = rest === undefined ? value : longer ? (more ?? "") : rest;
  const [text, form, at, wanted] = [value, layout, left, part].map((t) => JSON.stringify(t));
  return `parsing time ${text} as ${form}: cannot parse ${at} as ${wanted}`;
}

/** The Go type of a nested struct, by its name: that of `spec` in a Lease is LeaseSpec. */
function structOf(place: Place): string {
  const field = place.path.split(".").at(-1) ?? "";
  return place.path.includes(".") ? place.struct : `${place.struct}${field.slice(0, 1).toUpperCase()}${field.slice(1)}`;
}
