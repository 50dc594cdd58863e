import { type FieldError, fieldForbidden, invalid, required } from "../field-error.ts";
import type { ApiMeta, ApiObject } from "../types.ts";
import { equalJson, isJsonObject, type JsonObject, objectsIn, textIn, textsIn } from "./json.ts";
import { labelProblems, labelValueProblems, pathSegmentProblems, qualifiedNameProblems } from "./names.ts";
import { textProblem } from "./schema/text-forms.ts";

const ANNOTATIONS_LIMIT = 256 * 1024;

/** Checks metadata on create and update alike. The name has been checked by the type's own rule. */
export function validateMetadata(
  meta: ApiMeta,
  namespaced: boolean,
  nameProblems: (name: string, prefix: boolean) => readonly string[] = pathSegmentProblems,
): FieldError[] {
  const errors: FieldError[] = [];
  const generateName = meta.generateName ?? "";
  if (generateName !== "") {
    errors.push(...nameProblems(generateName, true).map((p) => invalid("metadata.generateName", generateName, p)));
  }
  const name = meta.name ?? "";
  if (name === "") errors.push(required("metadata.name", "name or generateName is required"));
  else errors.push(...nameProblems(name, false).map((p) => invalid("metadata.name", name, p)));
  errors.push(...validateNamespace(meta.namespace ?? "", namespaced));
  errors.push(...validateLabels(meta, "metadata.labels"), ...validateAnnotations(meta));
  errors.push(
    ...objectsIn(meta, "ownerReferences").flatMap((owner, i) => validateOwner(owner, i)),
    ...validateFinalizers(meta.finalizers ?? []),
  );
  return errors;
}

/** Checks what an update may not change in metadata. */
export function validateMetadataUpdate(meta: ApiMeta, old: ApiMeta): FieldError[] {
  // Real servers look twice, once for all types and once for this one, and report each complaint twice.
  const once = immutableComplaints(meta, old);
  return [...once, ...once];
}

function immutableComplaints(meta: ApiMeta, old: ApiMeta): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp !== undefined) {
    const added = (meta.finalizers ?? []).filter((f) => !(old.finalizers ?? []).includes(f)).toSorted();
    if (added.length > 0) {
      const list = `[]string{${added.map((f) => JSON.stringify(f)).join(", ")}}`;
      const words = "no new finalizers can be added if the object is being deleted, found new finalizers";
      errors.push(fieldForbidden("metadata.finalizers", `${words} ${list}`));
    }
  }
  for (const field of ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"] as const) {
    if ((meta[field] ?? "") !== (old[field] ?? "")) {
      errors.push(invalid(`metadata.${field}`, meta[field], "field is immutable"));
    }
  }
  if (meta.deletionGracePeriodSeconds !== old.deletionGracePeriodSeconds) {
    errors.push(invalid("metadata.deletionGracePeriodSeconds", meta.deletionGracePeriodSeconds, "field is immutable"));
  }
  return errors;
}

function validateLabels(parent: JsonObject, path: string): FieldError[] {
  return Object.entries(textsIn(parent, "labels")).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((p) => invalid(path, key, p)),
    ...labelValueProblems(value).map((p) => invalid(path, value, p)),
  ]);
}

function validateNamespace(namespace: string, namespaced: boolean): FieldError[] {
  if (!namespaced) return namespace === "" ? [] : [fieldForbidden("metadata.namespace", "not allowed on this type")];
  if (namespace === "") return [required("metadata.namespace")];
  return labelProblems(namespace).map((p) => invalid("metadata.namespace", namespace, p));
}

function validateAnnotations(meta: ApiMeta): FieldError[] {
  const path = "metadata.annotations";
  const entries = Object.entries(textsIn(meta, "annotations"));
  const errors = entries.flatMap(([key]) => qualifiedNameProblems(key.toLowerCase()).map((p) => invalid(path, key, p)));
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (size > ANNOTATIONS_LIMIT) {
    const body = `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`;
    errors.push({ type: "FieldValueTooLong", field: path, body });
  }
  return errors;
}

function validateOwner(owner: JsonObject, index: number): FieldError[] {
  const empty = ["apiVersion", "kind", "name", "uid"].filter((field) => textIn(owner, field) === "");
  return empty.map((field) => required(`metadata.ownerReferences[${index}].${field}`, "must not be empty"));
}

const STANDARD_FINALIZERS: ReadonlySet<string> = new Set(["kubernetes", "orphan", "foregroundDeletion"]);

/** Built-in types want a finalizer's domain; custom resources only advise it. */
export function validateStandardFinalizers(finalizers: readonly string[]): readonly FieldError[] {
  const words = "name is neither a standard finalizer name nor is it fully qualified";
  return finalizers.flatMap((name, i) =>
    name.includes("/") || STANDARD_FINALIZERS.has(name) ? [] : [invalid(`metadata.finalizers[${i}]`, name, words)],
  );
}

function validateFinalizers(finalizers: readonly string[]): FieldError[] {
  return finalizers.flatMap((f) => qualifiedNameProblems(f).map((p) => invalid("metadata.finalizers", f, p)));
}

const TEXTS = ["name", "generateName", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"];
const TIMES = ["creationTimestamp", "deletionTimestamp"];
const MAPS = ["labels", "annotations"];
const KNOWN = new Set([
  ...TEXTS,
  ...MAPS,
  "generation",
  "deletionGracePeriodSeconds",
  "finalizers",
  "ownerReferences",
  "managedFields",
  "selfLink",
]);

/**
 * Reads metadata as Go's ObjectMeta does: unknown fields are dropped and reported, empty ones vanish, a wrong type is an
 * error of decoding.
 * @param prefix stands before a field in such an error
 */
export function decodeMetadata(
  value: unknown,
  prefix: string,
  unknown: (path: string) => void,
): ApiMeta | { readonly wrong: string } {
  if (value === undefined || value === null) return {};
  if (!isJsonObject(value)) return { wrong: cannotUnmarshal(value, "ObjectMeta.metadata", "v1.ObjectMeta") };
  const wrong = wrongType(value, prefix);
  if (wrong !== undefined) return { wrong };
  const meta: ApiMeta = {};
  for (const [key, item] of Object.entries(value)) {
    if (!KNOWN.has(key)) unknown(`metadata.${key}`);
    else if (key !== "managedFields" && key !== "selfLink" && !isEmpty(item)) meta[key] = item;
  }
  return meta;
}

function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return true;
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function wrongType(meta: JsonObject, prefix: string): string | undefined {
  for (const field of TEXTS) {
    const value = meta[field];
    if (value !== undefined && value !== null && typeof value !== "string") {
      return cannotUnmarshal(value, `ObjectMeta.${prefix}${field}`, "string");
    }
  }
  for (const field of TIMES) {
    const problem = textProblem(textIn(meta, field), textIn(meta, field) === "" ? "" : "date-time");
    if (problem !== undefined) return problem;
  }
  for (const field of MAPS) {
    const value = meta[field];
    if (value === undefined || value === null) continue;
    if (!isJsonObject(value)) return cannotUnmarshal(value, `ObjectMeta.${prefix}${field}`, "map[string]string");
    const odd = Object.values(value).find((v) => typeof v !== "string" && v !== null);
    if (odd !== undefined) return cannotUnmarshal(odd, `ObjectMeta.${prefix}${field}`, "string");
  }
  for (const field of ["finalizers", "ownerReferences"]) {
    const value = meta[field];
    if (value === undefined || value === null || Array.isArray(value)) continue;
    return cannotUnmarshal(value, `ObjectMeta.${prefix}${field}`, "[]string");
  }
  return undefined;
}

/** Go's words for a JSON value of another type than the field. */
export function cannotUnmarshal(value: unknown, field: string, goType: string): string {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return `json: cannot unmarshal ${found} into Go struct field ${field} of type ${goType}`;
}

/** True when two objects are the same but for metadata.resourceVersion. */
export function sameContent(a: ApiObject, b: ApiObject): boolean {
  const { metadata: metaA, ...restA } = a;
  const { metadata: metaB, ...restB } = b;
  return (
    equalJson({ ...metaA, resourceVersion: undefined }, { ...metaB, resourceVersion: undefined }) &&
    equalJson(restA, restB)
  );
}
