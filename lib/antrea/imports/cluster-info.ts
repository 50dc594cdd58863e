import type { ObjectRef } from "../../kube/client.ts";
import type { ImportRecord } from "../../state/imports.ts";
import { showsAsGiven } from "./canonical.ts";
import { CLUSTER_INFO_IMPORTS, importedObject, memberRef } from "./member-resources.ts";
import { invalid, planDeletes, planOne } from "./plans.ts";
import type { ImportKind } from "./reconciler.ts";
import { isRecord, type ResourceImport } from "./resource-import.ts";

/** Fields that every version of the definition keeps. */
const OLD_FIELDS = new Set(["clusterID", "serviceCIDR", "podCIDRs", "gatewayInfos", "wireGuard"]);

/**
 * `ClusterInfo`: what the member needs to know of another cluster's gateways and networks, as a ClusterInfoImport of the
 * import's own name in the member's Namespace. Nobody but the importer makes objects of this kind, so none carries a
 * marker; a member does not import what it has exported itself.
 */
export const clusterInfo: ImportKind = {
  kind: "ClusterInfo",
  target: ({ name }, { namespace }) => ({ namespace, name }),
  judge: (wanted, { clusterID }) => {
    const info = payload(wanted);
    if (info === undefined) return invalid("the import has no clusterinfo: the leader has written no payload");
    if (info["clusterID"] !== clusterID) return undefined;
    return { kind: "remove", because: `it is what ${clusterID} itself has exported` };
  },
  looksAt: ({ target }) => [refTo(target)],
  targetsOf: (objects, { namespace }) =>
    objects.all(CLUSTER_INFO_IMPORTS).map(({ metadata }) => ({ namespace, name: metadata.name ?? "" })),
  owned: ({ target, observed }) => {
    const seen = observed.read(refTo(target));
    return seen === undefined ? [] : [importedObject(CLUSTER_INFO_IMPORTS, seen)];
  },
  plan: ({ wanted, record, observed, settings }) => {
    const ref = refTo(clusterInfo.target(wanted, settings));
    const seen = observed.read(ref);
    const spec = payload(wanted) ?? {};
    const fresh = record?.appliedHash !== wanted.hash;
    const same = seen !== undefined && showsAsGiven(spec, seen["spec"], { old: OLD_FIELDS, fresh });
    return planOne({ type: CLUSTER_INFO_IMPORTS, ref, seen, spec, same });
  },
  planRemoval: ({ target, record, observed }) => {
    const ref = refTo(target);
    return planDeletes([{ type: CLUSTER_INFO_IMPORTS, ref, object: observed.read(ref), marker: undefined }], record);
  },
};

function payload({ spec }: ResourceImport): Readonly<Record<string, unknown>> | undefined {
  const info = spec["clusterinfo"];
  return isRecord(info) ? info : undefined;
}

function refTo({ namespace, name }: ImportRecord["target"]): ObjectRef {
  return memberRef(CLUSTER_INFO_IMPORTS, name, namespace);
}
