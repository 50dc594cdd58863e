import { type FieldError, invalid, notSupported, required } from "../../field-error.ts";
import type { ApiObject, ApiStatus } from "../../types.ts";
import { arrayIn, equalJson, isJsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { define } from "./define.ts";
import { anything, bytes, conditions, int32, struct, text, texts } from "./description.ts";

const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];
const PEM = /-----BEGIN CERTIFICATE REQUEST-----[\s\S]+-----END CERTIFICATE REQUEST-----/;

/** certificates.k8s.io/v1 CertificateSigningRequest: asked for, approved or denied; the signer is another program. */
export const certificateSigningRequests = define({
  group: "certificates.k8s.io",
  kind: "CertificateSigningRequest",
  resource: "certificatesigningrequests",
  shortNames: ["csr"],
  namespaced: false,
  subresources: ["status", "approval"],
  schema: struct({
    spec: struct({
      request: bytes,
      signerName: text,
      expirationSeconds: int32,
      usages: texts,
      username: text,
      uid: text,
      groups: texts,
      extra: anything,
    }),
    status: struct({ conditions, certificate: bytes }),
  }),
  strategy: {
    applyDefaults: (object) => {
      object["status"] ??= {};
      const spec = object["spec"];
      if (isJsonObject(spec)) spec["usages"] ??= ["digital signature", "key encipherment"];
    },
    prepareCreate: (object, { user }) => {
      const { username, uid, groups, extra } = user;
      const asked = objectIn(object, "spec");
      const who = {
        username,
        groups,
        ...(uid === undefined ? {} : { uid }),
        ...(extra === undefined ? {} : { extra }),
      };
      object["spec"] = { ...asked, ...who };
      object["status"] = {};
      return undefined;
    },
    prepareUpdate: (object, old) => {
      object["spec"] = old["spec"];
      return undefined;
    },
    prepareSubresource,
    validate,
    validateUpdate,
    selectable: (object) => ({ "spec.signerName": textIn(objectIn(object, "spec"), "signerName") }),
  },
});

const DECISIONS = new Set(["Approved", "Denied"]);

/** `approval` sets conditions alone; `status` sets the certificate and conditions but for the decision, which it keeps. */
function prepareSubresource(subresource: string, object: ApiObject, old: ApiObject): ApiStatus | undefined {
  object["spec"] = old["spec"];
  const before = objectIn(old, "status");
  const now = objectIn(object, "status");
  const conditions = withTimes(now, before);
  if (subresource === "approval") {
    object["status"] = { ...before, ...(conditions.length === 0 ? {} : { conditions }) };
    return undefined;
  }
  const decided = objectsIn(before, "conditions").filter((c) => DECISIONS.has(textIn(c, "type")));
  const others = conditions.filter((c) => !DECISIONS.has(textIn(c, "type")));
  const kept = [...decided, ...others];
  object["status"] = { ...now, ...(kept.length === 0 ? {} : { conditions: kept }) };
  return undefined;
}

function withTimes(now: Record<string, unknown>, before: Record<string, unknown>): readonly Record<string, unknown>[] {
  const known = objectsIn(before, "conditions");
  return objectsIn(now, "conditions").map((condition) => {
    const same = known.find((c) => c["type"] === condition["type"] && c["status"] === condition["status"]);
    const stamp = condition["lastTransitionTime"] ?? same?.["lastTransitionTime"];
    return stamp === undefined ? condition : { ...condition, lastTransitionTime: stamp };
  });
}

function validate(object: ApiObject): readonly FieldError[] {
  const spec = objectIn(object, "spec");
  const errors: FieldError[] = [];
  const request = Buffer.from(textIn(spec, "request"), "base64").toString("utf8");
  if (!PEM.test(request)) {
    const bytes = [...Buffer.from(request)].map((byte) => `0x${byte.toString(16)}`);
    const body = `Invalid value: []byte{${bytes.join(", ")}}: PEM block type must be CERTIFICATE REQUEST`;
    errors.push({ type: "FieldValueInvalid", field: "spec.request", body });
  }
  arrayIn(spec, "usages").forEach((usage, i) => {
    if (!USAGES.includes(String(usage))) errors.push(notSupported(`spec.usages[${i}]`, usage, USAGES));
  });
  const signer = textIn(spec, "signerName");
  if (signer === "") errors.push(required("spec.signerName"));
  else if (!/^[^/]+\.[^/]+\/.+$/.test(signer)) {
    errors.push(
      invalid(
        "spec.signerName",
        signer,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'",
      ),
    );
  }
  const seconds = spec["expirationSeconds"];
  if (typeof seconds === "number" && seconds < 600) {
    errors.push(
      invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 600 seconds (10 minutes)"),
    );
  }
  const types = objectsIn(objectIn(object, "status"), "conditions").map((c) => textIn(c, "type"));
  if (types.includes("Approved") && types.includes("Denied")) {
    errors.push(invalid("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive"));
  }
  return errors;
}

function validateUpdate(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const decided = (of: ApiObject): unknown =>
    objectsIn(objectIn(of, "status"), "conditions")
      .filter((c) => DECISIONS.has(textIn(c, "type")))
      .map((c) => c["type"]);
  const before = decided(old);
  if (!Array.isArray(before) || before.length === 0 || equalJson(decided(object), before)) return [];
  return [
    invalid(
      "status.conditions",
      "conditions",
      `updates may not remove a condition of type ${JSON.stringify(before[0])}`,
    ),
  ];
}
