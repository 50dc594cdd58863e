import type { ApiClient } from "../api-client/api-client.ts";
import { paths } from "./resources.ts";

/** Somebody as the API server knows him, from an AdmissionRequest or a CertificateSigningRequest. */
export interface Caller {
  readonly username: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A right on a virtual subresource, as SubjectAccessReview names it. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name?: string;
}

/** Whether `caller` holds `right`, by a SubjectAccessReview. @throws when the API server gives no verdict */
export async function isAllowed(client: ApiClient, caller: Caller, right: Right): Promise<boolean> {
  const { username, groups, uid, extra } = caller;
  const answer = await client.request("POST", paths.accessReviews, {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SubjectAccessReview",
    spec: {
      user: username,
      ...(groups === undefined ? {} : { groups }),
      ...(uid === undefined ? {} : { uid }),
      ...(extra === undefined ? {} : { extra }),
      resourceAttributes: right,
    },
  });
  if (answer.code !== 201) throw new Error(`SubjectAccessReview: ${answer.code} ${answer.body.message ?? ""}`);
  return (answer.body["status"] as { allowed?: boolean } | undefined)?.allowed === true;
}
