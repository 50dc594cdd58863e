import type { ResourceType } from "../kube/client.ts";
import type { KubeError } from "../kube/errors.ts";
import { type Finding, passed, refused, wrong } from "./finding.ts";
import type { Cluster, Right } from "./ports.ts";

/** Answers whether we may do something; anybody who is authenticated may ask. */
const SELF_SUBJECT_ACCESS_REVIEWS: ResourceType = {
  group: "authorization.k8s.io",
  version: "v1",
  resource: "selfsubjectaccessreviews",
};

/** Asks, side by side, whether we have all of the rights. */
export async function askRights(
  client: Cluster,
  rights: readonly Right[],
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  remedy: string,
): Promise<Finding<void>> {
  const answers = await Promise.all(rights.map((right) => mayWe(client, right, limits)));
  const lacking = new Map<string, string[]>();
  for (const [index, right] of rights.entries()) {
    const answer = answers[index];
    if (answer === undefined || answer === true) continue;
    if (answer !== false) return refused(answer, remedy);
    const object = wordsOf(right);
    lacking.set(object, [...(lacking.get(object) ?? []), right.verb]);
  }
  if (lacking.size === 0) return passed(undefined, `all ${rights.length} rights are there`);
  const missing = [...lacking].map(([object, verbs]) => `${verbs.join(", ")} ${object}`);
  return wrong("PermissionDenied", `we may not ${missing.join("; not ")}`, remedy);
}

async function mayWe(
  client: Cluster,
  { verb, type, subresource, namespace, name }: Right,
  limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<boolean | KubeError> {
  const { group, resource } = type;
  const optional = Object.entries({ subresource, namespace, name }).filter(([, value]) => value !== undefined);
  const review = {
    apiVersion: "authorization.k8s.io/v1",
    kind: "SelfSubjectAccessReview",
    metadata: {},
    spec: { resourceAttributes: { verb, group, resource, ...Object.fromEntries(optional) } },
  };
  const asked = await client.create(SELF_SUBJECT_ACCESS_REVIEWS, undefined, review, limits);
  if (!asked.ok) return asked.error;
  const status = asked.value.object["status"];
  return typeof status === "object" && status !== null && "allowed" in status && status.allowed === true;
}

/** Of what the right is, as `kubectl auth can-i` spells it. */
function wordsOf({ type, subresource, namespace, name }: Right): string {
  const resource = subresource === undefined ? type.resource : `${type.resource}/${subresource}`;
  const object = name === undefined ? resource : `${resource} ${name}`;
  return `${object}${namespace === undefined ? "" : ` in Namespace ${namespace}`}`;
}
