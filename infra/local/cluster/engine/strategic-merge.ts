import { cloneJson, isJsonArray, isJsonObject, type JsonObject } from "./json.ts";

/** Lists of built-in objects that are merged by a key; all others are replaced. */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  conditions: "type",
  containers: "name",
  imagePullSecrets: "name",
  initContainers: "name",
  ownerReferences: "uid",
  ports: "port",
  secrets: "name",
  volumes: "name",
  webhooks: "name",
};

/** Lists of plain values that are joined. */
const MERGED_SETS: ReadonlySet<string> = new Set(["finalizers"]);

/** Applies a strategic merge patch, with its `$patch: delete` and `$patch: replace` directives; returns a new object. */
export function applyStrategicMergePatch(old: JsonObject, patch: JsonObject): JsonObject {
  return mergeObject(cloneJson(old), patch);
}

function mergeObject(target: JsonObject, patch: JsonObject): JsonObject {
  if (patch["$patch"] === "replace") return withoutDirectives(patch);
  if (patch["$patch"] === "delete") return {};
  for (const [key, value] of Object.entries(patch)) {
    if (key === "$patch" || key.startsWith("$setElementOrder/") || key === "$retainKeys") continue;
    const removed = /^\$deleteFromPrimitiveList\/(.+)$/.exec(key)?.[1];
    if (removed !== undefined) removeItems(target, removed, value);
    else if (value === null) delete target[key];
    else target[key] = mergeValue(target[key], value, key);
  }
  return target;
}

function mergeValue(old: unknown, patch: unknown, field: string): unknown {
  if (isJsonObject(patch)) return mergeObject(isJsonObject(old) ? old : {}, patch);
  if (!isJsonArray(patch)) return patch;
  const key = MERGE_KEYS[field];
  if (key !== undefined) return mergeList(isJsonArray(old) ? old : [], patch, key);
  if (MERGED_SETS.has(field)) return [...new Set([...(isJsonArray(old) ? old : []), ...patch])];
  return cloneJson(patch);
}

function mergeList(old: readonly unknown[], patch: readonly unknown[], key: string): readonly unknown[] {
  const items = patch.filter(isJsonObject);
  const result = items.some((item) => item["$patch"] === "replace") ? [] : [...old];
  for (const item of items) {
    if (item["$patch"] === "replace") continue;
    const at = result.findIndex((o) => isJsonObject(o) && o[key] === item[key]);
    const found = result[at];
    if (item["$patch"] === "delete") {
      if (at >= 0) result.splice(at, 1);
    } else if (isJsonObject(found)) result[at] = mergeObject(found, item);
    else result.push(withoutDirectives(item));
  }
  return result;
}

function removeItems(target: JsonObject, field: string, values: unknown): void {
  const list = target[field];
  if (isJsonArray(list) && isJsonArray(values)) target[field] = list.filter((item) => !values.includes(item));
}

function withoutDirectives(patch: JsonObject): JsonObject {
  const copy = cloneJson(patch);
  delete copy["$patch"];
  return copy;
}
