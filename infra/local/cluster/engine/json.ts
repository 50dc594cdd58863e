/** A JSON object whose fields are not known. */
export type JsonObject = Record<string, unknown>;

/** True for a JSON object, not for an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** True for a JSON array. */
export function isJsonArray(value: unknown): value is unknown[] {
  return Array.isArray(value);
}

/** The field as an object; empty where it is none. */
export function objectIn(parent: JsonObject, field: string): JsonObject {
  const value = parent[field];
  return isJsonObject(value) ? value : {};
}

/** The field as an array; empty where it is none. */
export function arrayIn(parent: JsonObject, field: string): readonly unknown[] {
  const value = parent[field];
  return isJsonArray(value) ? value : [];
}

/** The field as an array of objects; items that are none are left out. */
export function objectsIn(parent: JsonObject, field: string): readonly JsonObject[] {
  return arrayIn(parent, field).filter(isJsonObject);
}

/** The field as a text; empty where it is none. */
export function textIn(parent: JsonObject, field: string): string {
  const value = parent[field];
  return typeof value === "string" ? value : "";
}

/** The string values of an object of labels, annotations or the like. */
export function textsIn(parent: JsonObject, field: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [key, value] of Object.entries(objectIn(parent, field))) if (typeof value === "string") found[key] = value;
  return found;
}

/** A deep copy; several times faster than `structuredClone` for what JSON can say. Fields that are undefined are dropped. */
export function cloneJson<T>(value: T): T;
export function cloneJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => cloneJson(item));
  if (!isJsonObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) {
    const item = value[key];
    if (item !== undefined) setOwn(copy, key, typeof item === "object" ? cloneJson(item) : item);
  }
  return copy;
}

/** Sets a field, also one called `__proto__`, without touching the prototype. */
function setOwn(target: JsonObject, key: string, value: unknown): void {
  if (key === "__proto__")
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  else target[key] = value;
}

/** Deep equality of JSON, whatever the order of fields; an undefined field counts as absent. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isJsonArray(a)) return isJsonArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]));
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  for (const key of Object.keys(a)) if (!equalJson(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (a[key] === undefined && b[key] !== undefined) return false;
  return true;
}
