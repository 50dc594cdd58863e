import { cloneJson, isJsonArray, isJsonObject } from "../json.ts";
import type { Schema } from "./schema.ts";

/**
 * Fills in defaults, in place. A null where the schema allows none counts as absent: it is replaced by the default, or
 * dropped where there is none.
 */
export function applyDefaults(value: unknown, schema: Schema): void {
  if (isJsonArray(value)) {
    const items = schema.items;
    if (items !== undefined) for (const item of value) applyDefaults(item, items);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    const nullIsAbsent = value[key] === null && child.nullable !== true;
    if (child.default !== undefined && (!Object.hasOwn(value, key) || nullIsAbsent))
      value[key] = cloneJson(child.default);
    else if (nullIsAbsent) delete value[key];
    if (Object.hasOwn(value, key)) applyDefaults(value[key], child);
  }
  if (typeof schema.additionalProperties === "object") {
    for (const key of Object.keys(value)) {
      if (!Object.hasOwn(schema.properties ?? {}, key)) applyDefaults(value[key], schema.additionalProperties);
    }
  }
}
