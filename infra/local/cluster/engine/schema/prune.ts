import { isJsonArray, isJsonObject, type JsonObject } from "../json.ts";
import type { Schema } from "./schema.ts";

/** Fields that an embedded object keeps whatever its schema says. */
const EMBEDDED = new Set(["apiVersion", "kind", "metadata"]);

/** What pruning does beyond removing fields. */
export interface PruneOptions {
  /** Called with the path of each removed field. */
  readonly unknown: (path: string) => void;
  /** The value is a whole object: apiVersion, kind and metadata stay. */
  readonly root?: boolean;
}

/** Removes, in place, all fields that the schema does not know, as the API server does before it stores. */
export function prune(value: unknown, schema: Schema, options: PruneOptions, path = ""): void {
  if (isJsonArray(value)) {
    const items = schema.items;
    if (items !== undefined)
      value.forEach((item, i) => prune(item, items, { unknown: options.unknown }, `${path}[${i}]`));
  } else if (isJsonObject(value)) pruneObject(value, schema, options, path);
}

function pruneObject(value: JsonObject, schema: Schema, options: PruneOptions, path: string): void {
  const whole = options.root === true || schema["x-kubernetes-embedded-resource"] === true;
  const keepsUnknown = schema["x-kubernetes-preserve-unknown-fields"] === true || schema.additionalProperties === true;
  for (const key of Object.keys(value)) {
    const at = path === "" ? key : `${path}.${key}`;
    if (whole && EMBEDDED.has(key)) continue;
    const known = Object.hasOwn(schema.properties ?? {}, key) ? schema.properties?.[key] : undefined;
    const child = known ?? (typeof schema.additionalProperties === "object" ? schema.additionalProperties : undefined);
    if (child !== undefined) prune(value[key], child, { unknown: options.unknown }, at);
    else if (!keepsUnknown) {
      delete value[key];
      options.unknown(at);
    }
  }
}
