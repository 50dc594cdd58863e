import { type FieldError, invalid, required } from "../../field-error.ts";
import { isJsonArray, isJsonObject, type JsonObject } from "../json.ts";
import type { Schema } from "./schema.ts";

/** Checks that embedded objects (`x-kubernetes-embedded-resource`) have apiVersion and kind. */
export function validateEmbedded(value: unknown, schema: Schema, path = ""): readonly FieldError[] {
  if (isJsonArray(value)) {
    const items = schema.items;
    return items === undefined ? [] : value.flatMap((item, i) => validateEmbedded(item, items, `${path}[${i}]`));
  }
  if (!isJsonObject(value)) return [];
  const own = schema["x-kubernetes-embedded-resource"] === true ? validateHead(value, path) : [];
  return [
    ...own,
    ...Object.entries(value).flatMap(([key, item]) => {
      const known = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
      const more = typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined;
      const child = known ?? more;
      return child === undefined ? [] : validateEmbedded(item, child, path === "" ? key : `${path}.${key}`);
    }),
  ];
}

function validateHead(value: JsonObject, path: string): readonly FieldError[] {
  return ["apiVersion", "kind"].flatMap((field) => {
    const at = `${path}.${field}`;
    const text = value[field];
    if (text === undefined) return [required(at, "must not be empty")];
    if (typeof text !== "string") return [invalid(at, text, "must be a string")];
    return text === "" ? [invalid(at, text, "must not be empty")] : [];
  });
}
