import { duplicate, type FieldError } from "../../field-error.ts";
import { isJsonArray, isJsonObject, type JsonObject } from "../json.ts";
import type { Schema } from "./schema.ts";

/** Checks that lists of type `set` have no item twice, and lists of type `map` no key twice. */
export function validateListTypes(value: unknown, schema: Schema, path = ""): readonly FieldError[] {
  if (isJsonArray(value)) return validateArray(value, schema, path);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    const known = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    if (known !== undefined) return validateListTypes(item, known, path === "" ? key : `${path}.${key}`);
    const more = schema.additionalProperties;
    return typeof more === "object" ? validateListTypes(item, more, `${path}[${key}]`) : [];
  });
}

function validateArray(value: readonly unknown[], schema: Schema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const type = schema["x-kubernetes-list-type"];
  if (type === "set") errors.push(...duplicates(value, path));
  if (type === "map")
    errors.push(
      ...duplicates(
        value.map((v) => keysOf(v, schema)),
        path,
      ),
    );
  const items = schema.items;
  if (items !== undefined) value.forEach((item, i) => errors.push(...validateListTypes(item, items, `${path}[${i}]`)));
  return errors;
}

function keysOf(item: unknown, schema: Schema): JsonObject {
  if (!isJsonObject(item)) return {};
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]));
}

/** Only the second appearance is reported, not the third. */
function duplicates(values: readonly unknown[], path: string): readonly FieldError[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, i) => {
    const text = JSON.stringify(value);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    return times === 1 ? [duplicate(`${path}[${i}]`, value)] : [];
  });
}
