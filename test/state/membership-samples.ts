import type { ObservedCondition } from "../../lib/state/condition.ts";
import type { MembershipSpec } from "../../lib/state/membership.ts";

/** A membership document of the cluster, with some other options if wanted. */
export function specOf(cluster: string, options: Partial<MembershipSpec["options"]> = {}): MembershipSpec {
  return {
    cluster,
    protocol: "antrea",
    access: { kubeconfig: { file: `${cluster}.kubeconfig` } },
    antrea: { namespace: "kube-system" },
    options: { failureThreshold: 3, networkProfile: "default", ...options },
  };
}

/** A healthy observation, changed as wanted. */
export function observed(change: Partial<ObservedCondition> = {}): ObservedCondition {
  return { status: "True", reason: "", message: "", observedAt: 1000, failures: 0, assignment: 1, fence: 1, ...change };
}
