import type { Authorizer } from "../access/authorization.ts";
import { requestedGroups } from "../certificate-requests.ts";
import { arrayIn, objectIn, objectsIn, textIn } from "../engine/json.ts";
import { forbidden } from "../status.ts";
import type { Admission, AdmissionAttributes, AdmissionResult, ApiObject } from "../types.ts";

const RESOURCE = { group: "certificates.k8s.io", resource: "certificatesigningrequests" };
const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

/**
 * The server's own rules for CertificateSigningRequests, asked before any webhook: who may approve and sign needs the right
 * for the signer (verbs `approve` and `sign` on `signers`), and nobody asks for a certificate of `system:masters`
 * (admission plugins CertificateApproval, CertificateSigning and CertificateSubjectRestriction).
 */
export function certificateAdmission(authorizer: Authorizer, next: Admission): Admission {
  return async (phase, attributes) => {
    if (phase === "validating" && attributes.resource === RESOURCE.resource && attributes.group === RESOURCE.group) {
      const refused = refusalOf(authorizer, attributes);
      if (refused !== undefined) return refused;
    }
    return await next(phase, attributes);
  };
}

function refusalOf(authorizer: Authorizer, attributes: AdmissionAttributes): AdmissionResult | undefined {
  const { operation, subresource, object, oldObject, user, name } = attributes;
  const refuse = (why: string): AdmissionResult => ({ allowed: false, status: forbidden(RESOURCE, name, why) });
  if (operation === "CREATE") {
    const spec = objectIn(object ?? {}, "spec");
    const masters = textIn(spec, "signerName") === CLIENT_SIGNER && asksForMasters(textIn(spec, "request"));
    return masters ? refuse(`use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`) : undefined;
  }
  const verb = subresource === "approval" ? "approve" : isSigning(object, oldObject) ? "sign" : undefined;
  if (operation !== "UPDATE" || verb === undefined) return undefined;
  const signer = textIn(objectIn(oldObject ?? {}, "spec"), "signerName");
  const allowed = [signer, `${signer.split("/")[0]}/*`].some(
    (signerName) =>
      authorizer.decide(user, {
        kind: "resource",
        verb,
        group: RESOURCE.group,
        resource: "signers",
        subresource: undefined,
        namespace: undefined,
        name: signerName,
      }).allowed,
  );
  const words = `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`;
  return allowed ? undefined : refuse(words);
}

/** The certificate or the condition Failed is set: that is the signer's doing. */
function isSigning(object: ApiObject | undefined, old: ApiObject | undefined): boolean {
  const [now, before] = [objectIn(object ?? {}, "status"), objectIn(old ?? {}, "status")];
  const failed = objectsIn(now, "conditions").some((condition) => textIn(condition, "type") === "Failed");
  const hadFailed = arrayIn(before, "conditions").length > 0 && JSON.stringify(before).includes('"Failed"');
  return textIn(now, "certificate") !== textIn(before, "certificate") || (failed && !hadFailed);
}

function asksForMasters(base64: string): boolean {
  try {
    return requestedGroups(Buffer.from(base64, "base64").toString("utf8")).includes("system:masters");
  } catch {
    // Validation or the signer will say what is wrong with it.
    return false;
  }
}
