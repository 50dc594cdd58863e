import { duplicate, type FieldError, fieldForbidden, invalid, notSupported, required } from "../../field-error.ts";
import { invalidObject } from "../../status.ts";
import type { ApiObject, ApiStatus } from "../../types.ts";
import { timestamp } from "../core.ts";
import { arrayIn, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import type { StrategyContext } from "../resource-type.ts";
import { validateCertificate, validateRequest, validateSigner, validateUsages } from "./certificate-validation.ts";
import { define } from "./define.ts";
import { anything, bytes, conditions, int32, struct, text, texts } from "./description.ts";

const KIND = { group: "certificates.k8s.io", kind: "CertificateSigningRequest" };

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
      const { username: _u, uid: _i, groups: _g, extra: _e, ...asked } = objectIn(object, "spec");
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
    ...validateCertificate(textIn(objectIn(object, "status"), "certificate")),
  ];
}

function validateConditions(object: ApiObject): readonly FieldError[] {
  const types = typesOf(object);
  const errors = objectsIn(objectIn(object, "status"), "conditions").flatMap((condition, i) => {
    const path = `status.conditions[${i}]`;
    const type = textIn(condition, "type");
    const status = textIn(condition, "status");
    if (type === "") return [required(`${path}.type`)];
    const twice = types.indexOf(type) < i ? [duplicate(`${path}.type`, type)] : [];
    if (status === "") return [...twice, required(`${path}.status`)];
    const only = LASTING.has(type) ? ["True"] : ["False", "True", "Unknown"];
    return only.includes(status) ? twice : [...twice, notSupported(`${path}.status`, status, only)];
  });
  if (types.includes("Approved") && types.includes("Denied")) {
    errors.push(invalid("status.conditions", "Denied", "Approved and Denied conditions are mutually exclusive"));
  }
  return errors;
}

function validateUpdate(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const removed = typesOf(old).filter((type) => LASTING.has(type) && !typesOf(object).includes(type));
  const errors = removed.map((type) =>
    fieldForbidden("status.conditions", `updates may not remove a condition of type ${JSON.stringify(type)}`),
  );
  const [before, now] = [old, object].map((of) => textIn(objectIn(of, "status"), "certificate"));
  if (before !== "" && before !== now) {
    errors.push(fieldForbidden("status.certificate", "updates may not modify existing certificate content"));
  }
  return errors;
}
