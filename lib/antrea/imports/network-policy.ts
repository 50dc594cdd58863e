import type { KubeObject, ObjectRef } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { ImportRecord } from "../../state/imports.ts";
import {
  CLUSTER_NETWORK_POLICIES,
  IMPORTED_PREFIX,
  importedObject,
  memberRef,
  objectWords,
  TIERS,
} from "./member-resources.ts";
import { IMPORTED_POLICY, isMarked, markedTargets } from "./ownership.ts";
import { invalid, planDeletes, planOne, waiting } from "./plans.ts";
import { isTold, POLICY_MESSAGES, reportTransition } from "./policy-events.ts";
import { policySpec, samePolicy, tierOf } from "./policy-spec.ts";
import type { ImportKind, ImportPlan, PlanInput } from "./reconciler.ts";
import { isRecord, type ResourceImport } from "./resource-import.ts";

/**
 * `AntreaClusterNetworkPolicy`: the annotated ClusterNetworkPolicy `antrea-mc-<name>`, while the Tier that it belongs to
 * is there; without it Antrea would refuse the policy, so one that is there goes. The leader is told by an Event of what
 * keeps a policy out, once each time that changes.
 */
export const networkPolicy: ImportKind = {
  kind: "AntreaClusterNetworkPolicy",
  target: ({ specName }) => ({ name: specName }),
  judge: (wanted) => invalid(fault(wanted)),
  looksAt: ({ target, wanted }) => {
    const tier = wanted === undefined ? undefined : payload(wanted);
    return tier === undefined ? [policyRef(target)] : [policyRef(target), tierRef(tier)];
  },
  targetsOf: (objects) => markedTargets(objects.all(CLUSTER_NETWORK_POLICIES), IMPORTED_POLICY, IMPORTED_PREFIX),
  owned: ({ target, observed }) => {
    const seen = observed.read(policyRef(target));
    return seen !== undefined && isMarked(seen, IMPORTED_POLICY)
      ? [importedObject(CLUSTER_NETWORK_POLICIES, seen)]
      : [];
  },
  plan: planPolicy,
  planRemoval: ({ target, record, observed }) => {
    const ref = policyRef(target);
    const object = observed.read(ref);
    return planDeletes([{ type: CLUSTER_NETWORK_POLICIES, ref, object, marker: IMPORTED_POLICY }], record);
  },
  describe: describeFailure,
  report: reportTransition,
};

function planPolicy(input: PlanInput): ImportPlan {
  const { wanted, observed, settings } = input;
  const { clusterID } = settings;
  const ref = policyRef(networkPolicy.target(wanted, settings));
  const given = payload(wanted) ?? {};
  const seen = observed.read(ref);
  if (seen !== undefined && !isMarked(seen, IMPORTED_POLICY)) {
    const advice = `: ${objectWords(CLUSTER_NETWORK_POLICIES, ref)} is there already and was not imported`;
    return kept(input, "Conflicted", POLICY_MESSAGES.conflict(clusterID), advice);
  }
  if (observed.read(tierRef(given)) === undefined) {
    const out = kept(input, "Pending", POLICY_MESSAGES.tierMissing(clusterID, tierOf(given)), "");
    return { ...out, actions: [...removal(ref, seen), ...out.actions] };
  }
  const annotations = { [IMPORTED_POLICY]: "true" };
  const spec = policySpec(given);
  return planOne({
    type: CLUSTER_NETWORK_POLICIES,
    ref,
    seen,
    spec,
    annotations,
    same: samePolicy(spec, seen?.["spec"]),
  });
}

/** It is not installed, and the leader is told why. */
function kept(input: PlanInput, state: "Conflicted" | "Pending", message: string, advice: string): ImportPlan {
  const report = reportTransition(input, message);
  return { ...waiting(state, `${message}${advice}`), actions: report === undefined ? [] : [report] };
}

function removal(ref: ObjectRef, seen: KubeObject | undefined): ImportPlan["actions"] {
  const marker = IMPORTED_POLICY;
  return planDeletes([{ type: CLUSTER_NETWORK_POLICIES, ref, object: seen, marker }], undefined).actions;
}

function describeFailure({ wanted, settings }: PlanInput, { kind, operation, object }: KubeError): string | undefined {
  if (!isTold(kind)) return undefined;
  const { clusterID } = settings;
  if (operation === "get") {
    const isTier = object.startsWith(`${TIERS.resource} `);
    return isTier ? POLICY_MESSAGES.tierUnreadable(clusterID, tierOf(payload(wanted) ?? {})) : undefined;
  }
  if (operation === "create") return POLICY_MESSAGES.notCreated(clusterID);
  return operation === "delete" ? POLICY_MESSAGES.notDeleted(clusterID) : POLICY_MESSAGES.notUpdated(clusterID);
}

function fault(wanted: ResourceImport): string | undefined {
  if (wanted.specName === "") return "the import has no spec.name";
  return payload(wanted) === undefined
    ? "the import has no clusternetworkpolicy: the leader has written no payload"
    : undefined;
}

function payload({ spec }: ResourceImport): Readonly<Record<string, unknown>> | undefined {
  const policy = spec["clusternetworkpolicy"];
  return isRecord(policy) ? policy : undefined;
}

function policyRef({ name }: ImportRecord["target"]): ObjectRef {
  return memberRef(CLUSTER_NETWORK_POLICIES, `${IMPORTED_PREFIX}${name}`);
}

function tierRef(spec: Readonly<Record<string, unknown>>): ObjectRef {
  return memberRef(TIERS, tierOf(spec));
}
