import { type FieldError, fieldForbidden, invalid, tooLong } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { equalJson, objectIn, textsIn } from "../json.ts";
import { define } from "./define.ts";
import { bytes, flag, mapOf, struct, textMap } from "./description.ts";

/** v1 ConfigMap. */
export const configMaps = define({
  kind: "ConfigMap",
  resource: "configmaps",
  shortNames: ["cm"],
  namespaced: true,
  schema: struct({ data: textMap, binaryData: mapOf(bytes), immutable: flag }),
  strategy: {
    validate: (object) => [
      ...validateDataKeys(object, ["data", "binaryData"]),
      ...validateDoubles(object),
      ...validateSize(object),
    ],
    validateUpdate: (object, old) => validateImmutable(object, old, ["data", "binaryData"]),
  },
});

function validateDoubles(object: ApiObject): readonly FieldError[] {
  const binary = objectIn(object, "binaryData");
  const doubles = Object.keys(objectIn(object, "data")).filter((key) => Object.hasOwn(binary, key));
  return doubles.map((key) => invalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
}

const SIZE_LIMIT = 1024 * 1024;

function validateSize(object: ApiObject): readonly FieldError[] {
  const texts = Object.values(textsIn(object, "data")).map((text) => Buffer.byteLength(text));
  const binaries = Object.values(textsIn(object, "binaryData")).map((text) => Buffer.byteLength(text, "base64"));
  const size = [...texts, ...binaries].reduce((sum, bytes) => sum + bytes, 0);
  return size > SIZE_LIMIT ? [tooLong("[]", SIZE_LIMIT)] : [];
}

const KEY = /^[-._a-zA-Z0-9]+$/;
const KEY_WORDS =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/** Keys of ConfigMaps and Secrets become file names. */
export function validateDataKeys(object: ApiObject, fields: readonly string[]): readonly FieldError[] {
  return fields.flatMap((field) =>
    Object.keys(textsIn(object, field)).flatMap((key) => {
      const path = `${field}[${key}]`;
      const long = key.length > 253 ? [invalid(path, key, "must be no more than 253 characters")] : [];
      return KEY.test(key) ? long : [...long, invalid(path, key, KEY_WORDS)];
    }),
  );
}

/** What is `immutable: true` can no longer change, nor become mutable again. */
export function validateImmutable(object: ApiObject, old: ApiObject, fields: readonly string[]): readonly FieldError[] {
  if (old["immutable"] !== true) return [];
  const words = "field is immutable when `immutable` is set";
  const unset = object["immutable"] === true ? [] : [fieldForbidden("immutable", words)];
  const changed = fields.filter((field) => !equalJson(object[field] ?? {}, old[field] ?? {}));
  return [...unset, ...changed.map((field) => fieldForbidden(field, words))];
}
