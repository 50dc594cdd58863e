import type { Schema } from "../schema/schema.ts";

/*
 * Built-in types in few words. `nullable` marks fields that are pointers in Go: their empty value is kept, that of others
 * is left out.
 */

type Fields = Readonly<Record<string, Schema>>;

export const text: Schema = { type: "string" };
export const textPointer: Schema = { type: "string", nullable: true };
export const int32: Schema = { type: "integer", format: "int32", nullable: true };
export const int64: Schema = { type: "integer", format: "int64", nullable: true };
export const flag: Schema = { type: "boolean", nullable: true };
export const time: Schema = { type: "string", format: "date-time" };
export const microTime: Schema = { type: "string", format: "micro-time" };
export const bytes: Schema = { type: "string", format: "byte", nullable: true };
export const intOrString: Schema = { "x-kubernetes-int-or-string": true };
/** Any content, kept as it is. */
export const anything: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

export function struct(properties: Fields): Schema {
  return { type: "object", properties };
}

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}

export function mapOf(values: Schema): Schema {
  return { type: "object", additionalProperties: values };
}

export const texts: Schema = listOf(text);
export const textMap: Schema = mapOf({ type: "string", nullable: true });

export const objectReference: Schema = struct({
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  apiVersion: text,
  resourceVersion: text,
  fieldPath: text,
});

export const conditions: Schema = listOf(
  struct({
    type: text,
    status: text,
    observedGeneration: int64,
    lastUpdateTime: time,
    lastProbeTime: time,
    lastHeartbeatTime: time,
    lastTransitionTime: time,
    reason: text,
    message: text,
  }),
);

export const labelSelector: Schema = struct({
  matchLabels: textMap,
  matchExpressions: listOf(struct({ key: text, operator: text, values: texts })),
});
