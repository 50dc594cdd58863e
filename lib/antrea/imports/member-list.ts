import { ok, type Result } from "../../base/result.ts";
import type { KubeObject } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";
import { MANAGED_BY_LABEL, MANAGED_BY_US } from "./endpoint-slices.ts";
import {
  CLUSTER_INFO_IMPORTS,
  CLUSTER_NETWORK_POLICIES,
  ENDPOINT_SLICES,
  ENDPOINTS,
  IMPORTED_PREFIX,
  LABEL_IDENTITIES,
  type MemberResource,
  SERVICE_IMPORTS,
  SERVICES,
  TIERS,
} from "./member-resources.ts";
import type { ImportContext } from "./reconciler.ts";

/** Our slices alone: a cluster may have very many of others. */
const SLICES_OF_OURS = `${MANAGED_BY_LABEL}=${MANAGED_BY_US}`;

/** Types whose objects are ours only under names that begin with the prefix; the others are not looked at. */
const PREFIXED: readonly MemberResource[] = [SERVICES, ENDPOINTS, CLUSTER_NETWORK_POLICIES];

const WHOLE: readonly MemberResource[] = [
  SERVICE_IMPORTS,
  ENDPOINT_SLICES,
  CLUSTER_INFO_IMPORTS,
  LABEL_IDENTITIES,
  TIERS,
];

/**
 * Lists everything in the member that imports are made of, into what is known of it. For a full compare this comes before
 * the list of the leader's imports: the other way round, what is imported in between looks as if nobody asked for it.
 *
 * @returns the resources that our identity may not list; a definition that the member does not serve has no objects
 */
export async function listMember(
  context: Pick<ImportContext, "member" | "objects" | "settings" | "timeoutMs" | "signal">,
): Promise<Result<readonly string[], KubeError>> {
  const unseen: string[] = [];
  for (const type of [...PREFIXED, ...WHOLE]) {
    const listed = await listOne(type, context);
    if (!listed.ok) return listed;
    if (!listed.value) unseen.push(type.resource);
  }
  return ok(unseen);
}

/** False: it may not be listed. */
async function listOne(
  type: MemberResource,
  { member, objects, settings, timeoutMs, signal }: Parameters<typeof listMember>[0],
): Promise<Result<boolean, KubeError>> {
  const namespace = type === CLUSTER_INFO_IMPORTS ? settings.namespace : undefined;
  const labelSelector = type === ENDPOINT_SLICES ? { labelSelector: SLICES_OF_OURS } : {};
  const listed = await member.list(type, namespace, { timeoutMs, signal, ...labelSelector });
  if (listed.ok) {
    objects.noteAll(type, PREFIXED.includes(type) ? listed.value.items.filter(isPrefixed) : listed.value.items);
    return ok(true);
  }
  objects.forgetAll(type);
  if (listed.error.kind === "forbidden") return ok(false);
  if (listed.error.kind !== "notFound") return listed;
  objects.noteAll(type, []);
  return ok(true);
}

function isPrefixed({ metadata }: KubeObject): boolean {
  return metadata.name?.startsWith(IMPORTED_PREFIX) === true;
}
