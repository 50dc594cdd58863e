import { type FieldError, invalid, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { isJsonObject, objectIn, textIn, textsIn } from "../json.ts";
import { validateDataKeys, validateImmutable } from "./config-map.ts";
import { define } from "./define.ts";
import { bytes, flag, mapOf, struct, text, textMap } from "./description.ts";

const LARGEST = 1024 * 1024;
const ACCOUNT_TOKEN = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";

/** Data that a type of Secret cannot do without. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

/** v1 Secret. */
export const secrets = define({
  kind: "Secret",
  resource: "secrets",
  namespaced: true,
  schema: struct({ type: text, data: mapOf(bytes), stringData: textMap, immutable: flag }),
  strategy: {
    applyDefaults: (object) => {
      object["type"] ??= "Opaque";
      foldStringData(object);
    },
    validate,
    validateUpdate: (object, old) => [
      ...(object["type"] === old["type"] ? [] : [invalid("type", object["type"], "field is immutable")]),
      ...validateImmutable(object, old, ["data"]),
    ],
    selectable: (object) => ({ type: textIn(object, "type") }),
  },
});

/** stringData is for writing only: it goes into data, where it wins. */
function foldStringData(object: ApiObject): void {
  const given = object["stringData"];
  delete object["stringData"];
  if (!isJsonObject(given)) return;
  const added = Object.entries(textsIn({ given }, "given")).map(([k, v]) => [k, Buffer.from(v).toString("base64")]);
  if (added.length > 0) object["data"] = { ...objectIn(object, "data"), ...Object.fromEntries(added) };
}

function validate(object: ApiObject): readonly FieldError[] {
  const type = textIn(object, "type");
  const data = objectIn(object, "data");
  const errors = [...validateDataKeys(object, ["data"])];
  const size = Object.values(textsIn(object, "data")).reduce((sum, v) => sum + Buffer.from(v, "base64").length, 0);
  if (size > LARGEST) {
    errors.push({ type: "FieldValueTooLong", field: "data", body: `Too long: may not be more than ${LARGEST} bytes` });
  }
  if (type === ACCOUNT_TOKEN && (textsIn(object.metadata, "annotations")[ACCOUNT_NAME] ?? "") === "") {
    errors.push(required(`metadata.annotations[${ACCOUNT_NAME}]`));
  }
  for (const key of NEEDED[type] ?? []) if (!Object.hasOwn(data, key)) errors.push(required(`data[${key}]`));
  return errors;
}
