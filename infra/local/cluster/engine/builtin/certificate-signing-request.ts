import { duplicate, type FieldError, fieldForbidden, invalid, notSupported, required } from "../../field-error.ts";
import { invalidObject } from "../../status.ts";
import type { ApiObject, ApiStatus } from "../../types.ts";
import { timestamp } from "../core.ts";
import { arrayIn, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import type { StrategyContext } from "../resource-type.ts";
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
const KIND = { group: "certificates.k8s.io", kind: "CertificateSigningRequest" };
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
/** Once there, they stay. */
const LASTING = new Set([...DECISIONS, "Failed"]);

/** `approval` sets conditions; `status` sets certificate and conditions, and leaves the decision as it is. */
function prepareSubresource(
  subresource: string,
  object: ApiObject,
  old: ApiObject,
  { clock }: StrategyContext,
): ApiStatus | undefined {
  object["spec"] = old["spec"];
  const before = objectIn(old, "status");
  const now = objectIn(object, "status");
  const conditions = withTimes(now, before, timestamp(clock));
  const shown = conditions.length === 0 ? {} : { conditions };
  if (subresource === "approval") {
    const { conditions: _before, ...rest } = before;
    object["status"] = { ...rest, ...shown };
    return undefined;
  }
  const { conditions: _now, ...rest } = now;
  object["status"] = { ...rest, ...shown };
  const added = typesOf(object).filter((type) => DECISIONS.has(type) && !typesOf(old).includes(type));
  if (added.length === 0) return undefined;
  const errors = added.map((type) =>
    fieldForbidden("status.conditions", `updates may not add a condition of type ${JSON.stringify(type)}`),
  );
  return invalidObject(KIND, object.metadata.name ?? "", errors);
}

/** A condition that was there with the same status keeps its time; a decision stays word for word. */
function withTimes(now: JsonObject, before: JsonObject, at: string): readonly JsonObject[] {
  const known = objectsIn(before, "conditions");
  return objectsIn(now, "conditions").map((condition) => {
    const same = known.find((c) => c["type"] === condition["type"] && c["status"] === condition["status"]);
    const since = condition["lastTransitionTime"] ?? same?.["lastTransitionTime"] ?? at;
    return { ...condition, lastUpdateTime: condition["lastUpdateTime"] ?? at, lastTransitionTime: since };
  });
}

function typesOf(of: ApiObject): readonly string[] {
  return objectsIn(objectIn(of, "status"), "conditions").map((condition) => textIn(condition, "type"));
}

function validate(object: ApiObject): readonly FieldError[] {
  const spec = objectIn(object, "spec");
  const seconds = spec["expirationSeconds"];
  const short = typeof seconds === "number" && seconds < 600;
  const words = "may not specify a duration less than 600 seconds (10 minutes)";
  return [
    ...validateRequest(textIn(spec, "request")),
    ...validateUsages(arrayIn(spec, "usages")),
    ...validateSigner(textIn(spec, "signerName")),
    ...(short ? [invalid("spec.expirationSeconds", seconds, words)] : []),
    ...validateConditions(object),
  ];
}

function validateRequest(base64: string): readonly FieldError[] {
  if (PEM.test(Buffer.from(base64, "base64").toString("utf8"))) return [];
  return [invalid("spec.request", base64, "PEM block type must be CERTIFICATE REQUEST")];
}

function validateUsages(usages: readonly unknown[]): readonly FieldError[] {
  if (usages.length === 0) return [required("spec.usages")];
  return usages.flatMap((usage, i) => {
    const path = `spec.usages[${i}]`;
    if (!USAGES.includes(String(usage))) return [notSupported(path, usage, USAGES)];
    return usages.indexOf(usage) < i ? [duplicate(path, usage)] : [];
  });
}

function validateSigner(signer: string): readonly FieldError[] {
  const path = "spec.signerName";
  if (signer === "") return [required(path)];
  const [domain = "", ...rest] = signer.split("/");
  if (rest.join("/") === "") {
    return [invalid(path, signer, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  if (!domain.includes(".")) {
    return [invalid(path, domain, "should be a domain with at least two segments separated by dots")];
  }
  return signer === "kubernetes.io/legacy-unknown"
    ? [invalid(path, signer, "the legacy signerName is not allowed via this API version")]
    : [];
}

function validateConditions(object: ApiObject): readonly FieldError[] {
  const errors = objectsIn(objectIn(object, "status"), "conditions").flatMap((condition, i) => {
    const path = `status.conditions[${i}].status`;
    const status = textIn(condition, "status");
    if (status === "") return [required(path)];
    const only = LASTING.has(textIn(condition, "type")) ? ["True"] : ["False", "True", "Unknown"];
    return only.includes(status) ? [] : [notSupported(path, status, only)];
  });
  const types = typesOf(object);
  if (types.includes("Approved") && types.includes("Denied")) {
    errors.push(invalid("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive"));
  }
  return errors;
}

function validateUpdate(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const removed = typesOf(old).filter((type) => LASTING.has(type) && !typesOf(object).includes(type));
  return removed.map((type) =>
    fieldForbidden("status.conditions", `updates may not remove a condition of type ${JSON.stringify(type)}`),
  );
}
