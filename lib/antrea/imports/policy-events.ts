import { createHash } from "node:crypto";
import type { KubeErrorKind } from "../../kube/errors.ts";
import type { ImportAction, PlanInput } from "./reconciler.ts";

/** What the leader is told of a policy that cannot be installed; Antrea's own words, which its users look for. */
export const POLICY_MESSAGES = {
  conflict: (id: string): string =>
    `Unable to import Antrea ClusterNetworkPolicy which conflicts with existing one in cluster ${id}`,
  tierUnreadable: (id: string, tier: string): string => `Failed to get Tier ${tier} in member cluster ${id}`,
  tierMissing: (id: string, tier: string): string => `ACNP Tier ${tier} does not exist in importing cluster ${id}`,
  notCreated: (id: string): string => `Failed to create imported Antrea ClusterNetworkPolicy in cluster ${id}`,
  notUpdated: (id: string): string => `Failed to update imported Antrea ClusterNetworkPolicy in cluster ${id}`,
  notDeleted: (id: string): string =>
    `Failed to delete imported Antrea ClusterNetworkPolicy that no longer has a valid Tier for cluster ${id}`,
} as const;

/** Longest name of an object, in characters. */
const NAME_LENGTH = 253;

/** What the member answers for itself; everything else is an outage, which is over when it is over. */
const TOLD = new Set<KubeErrorKind>(["forbidden", "invalid", "notFound", "webhookDenied", "webhookUnavailable"]);

/** Whether an error is one to tell the leader of. */
export function isTold(kind: KubeErrorKind): boolean {
  return TOLD.has(kind);
}

/**
 * The Event in the leader for a transition, unless the import stands there already: one for each transition, not one for
 * each look. Its name is made of what it was before and what it is now, so that a process which ends between the Event
 * and the record makes no second one.
 */
export function reportTransition(input: PlanInput, message: string): ImportAction | undefined {
  const { record, wanted, settings, now } = input;
  if (record?.error?.startsWith(message) === true) return undefined;
  const before = [record?.since, record?.state, record?.error, record?.appliedHash];
  const suffix = createHash("sha256")
    .update(JSON.stringify([wanted.uid, wanted.hash, ...before, message, settings.clusterID]))
    .digest("hex")
    .slice(0, 16);
  const stamp = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const event = {
    apiVersion: "v1",
    kind: "Event",
    metadata: {
      name: `${wanted.name.slice(0, NAME_LENGTH - suffix.length - 1)}.${suffix}`,
      namespace: settings.commonArea,
    },
    type: "Warning",
    reason: "ACNPImportFailed",
    message,
    involvedObject: {
      apiVersion: "multicluster.crd.antrea.io/v1alpha1",
      kind: "ResourceImport",
      name: wanted.name,
      namespace: wanted.namespace,
      uid: wanted.uid,
    },
    firstTimestamp: stamp,
    lastTimestamp: stamp,
    reportingComponent: "resourceimport-controller",
    reportingInstance: "antrea-mc-controller",
    action: "synced",
  };
  return { kind: "report", event };
}
