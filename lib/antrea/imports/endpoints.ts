import type { KubeObject, ObjectRef } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { ImportRecord } from "../../state/imports.ts";
import {
  MANAGED_BY_LABEL,
  MANAGED_BY_MIRRORING,
  MANAGED_BY_US,
  MAX_ENDPOINTS,
  planSlices,
  SERVICE_LABEL,
  sliceRef,
} from "./endpoint-slices.ts";
import { groupOffers, readSubsets, sameSubsets, subsetsOf } from "./endpoint-subsets.ts";
import type { Selection } from "./member-objects.ts";
import {
  ENDPOINT_SLICES,
  ENDPOINTS,
  IMPORTED_PREFIX,
  importedObject,
  memberRef,
  newObject,
} from "./member-resources.ts";
import { IMPORTED_SERVICE, isGoing, isMarked, markedTargets } from "./ownership.ts";
import { atRest, invalid, invalidTarget, planDeletes, taken, waitForDeletion, waiting, writes } from "./plans.ts";
import type { ImportAction, ImportKind, ImportPlan, PlanInput } from "./reconciler.ts";
import type { ResourceImport } from "./resource-import.ts";

type Target = ImportRecord["target"];
type Json = Readonly<Record<string, unknown>>;

/** Its presence keeps the cluster's own controller from mirroring Endpoints. */
const SKIP_MIRROR = "endpointslice.kubernetes.io/skip-mirror";

/**
 * `Endpoints`: the addresses behind the Service `antrea-mc-<name>`, as Endpoints of that name with the subsets that the
 * import has; the cluster's own controller mirrors them into EndpointSlices. It mirrors 1,000 addresses of a subset at
 * most, and some clusters refuse Endpoints: there we write the slices ourselves, keep the controller from mirroring, and
 * wait until its slices are gone, so that no address is ever in two.
 */
export const endpoints: ImportKind = {
  kind: "Endpoints",
  target: ({ specName, specNamespace }) => ({ namespace: specNamespace, name: specName }),
  judge: (wanted, settings) => {
    const problem = invalidTarget(endpoints.target(wanted, settings), IMPORTED_PREFIX);
    const payload = readSubsets(wanted.spec["endpoints"]);
    return invalid(
      problem ?? (payload === undefined ? "the import has no endpoints: no payload was written" : undefined),
    );
  },
  looksAt: ({ target, wanted, record, observed }) => {
    const refused = observed.isRefused(ENDPOINTS);
    const own = wanted === undefined || needsSlices(wanted) || refused;
    const doubtful = record !== undefined && (record.state !== "Applied" || record.objects.some(isSlice));
    return [
      ...(refused ? [] : [endpointsRef(target)]),
      ...(own || doubtful ? [ourSlices(target)] : []),
      ...(own && wanted !== undefined && !refused ? [mirroredSlices(target)] : []),
    ];
  },
  targetsOf: (objects) => {
    const whole = markedTargets(objects.all(ENDPOINTS), IMPORTED_SERVICE, IMPORTED_PREFIX);
    const slices = objects.all(ENDPOINT_SLICES).flatMap(targetOfSlice);
    return [...new Map([...whole, ...slices].map((one) => [`${one.namespace}/${one.name}`, one])).values()];
  },
  owned: ({ target, observed }) => {
    const seen = observed.read(endpointsRef(target));
    return [
      ...(seen !== undefined && isMarked(seen, IMPORTED_SERVICE) ? [importedObject(ENDPOINTS, seen)] : []),
      ...observed.select(ourSlices(target)).map((slice) => importedObject(ENDPOINT_SLICES, slice)),
    ];
  },
  plan: planEndpoints,
  planRemoval: ({ target, record, observed }) => {
    const ref = endpointsRef(target);
    const slices = observed.select(ourSlices(target)).map((object) => ({
      type: ENDPOINT_SLICES,
      ref: sliceRef(target.namespace ?? "", object),
      object,
      marker: undefined,
    }));
    return planDeletes(
      [{ type: ENDPOINTS, ref, object: observed.read(ref), marker: IMPORTED_SERVICE }, ...slices],
      record,
    );
  },
  refusedType: ({ kind, object }: KubeError) => {
    const refused = kind === "forbidden" || kind === "notFound" || kind === "webhookDenied";
    return refused && object.startsWith(`${ENDPOINTS.resource} `) ? ENDPOINTS : undefined;
  },
};

function planEndpoints({ wanted, observed, settings }: PlanInput): ImportPlan {
  const target = endpoints.target(wanted, settings);
  const ref = endpointsRef(target);
  const seen = observed.read(ref);
  if (seen !== undefined && !isMarked(seen, IMPORTED_SERVICE)) return taken(ENDPOINTS, ref);
  if (seen !== undefined && isGoing(seen)) return waitForDeletion(seen);
  const subsets = readSubsets(wanted.spec["endpoints"]) ?? [];
  const refused = observed.isRefused(ENDPOINTS);
  const own = needsSlices(wanted) || refused;
  const ours = observed.select(ourSlices(target));
  const service = { namespace: target.namespace ?? "", name: ref.name };
  if (!own) {
    const actions = [...planSlices(service, [], ours), ...writeEndpoints(ref, seen, subsets, false)];
    return actions.length === 0 ? atRest("Applied") : writes(actions);
  }
  const first = refused ? [] : writeEndpoints(ref, seen, subsets, true);
  if (first.length > 0) return writes(first);
  if (observed.select(mirroredSlices(target)).length > 0) {
    const because = `the cluster's own EndpointSlices of Service ${service.namespace}/${service.name} are not gone yet`;
    return { ...waiting("Pending", because), nextLook: "shortly" };
  }
  const actions = planSlices(service, groupOffers(subsets), ours);
  return actions.length === 0 ? atRest("Applied") : writes(actions);
}

function writeEndpoints(
  ref: ObjectRef,
  seen: KubeObject | undefined,
  subsets: readonly Json[],
  skipsMirror: boolean,
): readonly ImportAction[] {
  if (seen === undefined) {
    const { metadata, ...base } = newObject(ENDPOINTS, ref, { [IMPORTED_SERVICE]: "true" });
    const labels = skipsMirror ? { labels: { [SKIP_MIRROR]: "true" } } : {};
    return [{ kind: "create", ref, object: { ...base, metadata: { ...metadata, ...labels }, subsets } }];
  }
  const { [SKIP_MIRROR]: skip, ...labels } = seen.metadata.labels ?? {};
  if (sameSubsets(subsets, subsetsOf(seen)) && (skip === "true") === skipsMirror) return [];
  const kept = { ...labels, ...(skipsMirror ? { [SKIP_MIRROR]: "true" } : {}) };
  return [{ kind: "update", ref, object: { ...seen, metadata: { ...seen.metadata, labels: kept }, subsets } }];
}

function needsSlices({ spec }: ResourceImport): boolean {
  const groups = groupOffers(readSubsets(spec["endpoints"]) ?? []);
  return groups.reduce((sum, { addresses }) => sum + addresses.length, 0) > MAX_ENDPOINTS;
}

function isSlice({ kind }: ImportRecord["objects"][number]): boolean {
  return kind === ENDPOINT_SLICES.kind;
}

function targetOfSlice({ metadata: { namespace = "", labels } }: KubeObject): readonly Target[] {
  const service = labels?.[SERVICE_LABEL] ?? "";
  const isOurs = labels?.[MANAGED_BY_LABEL] === MANAGED_BY_US && service.startsWith(IMPORTED_PREFIX);
  return isOurs ? [{ namespace, name: service.slice(IMPORTED_PREFIX.length) }] : [];
}

function endpointsRef({ namespace, name }: Target): ObjectRef {
  return memberRef(ENDPOINTS, `${IMPORTED_PREFIX}${name}`, namespace);
}

/** All of ours are in a complete list of the member. */
function ourSlices(target: Target): Selection {
  return slices(target, MANAGED_BY_US, true);
}

function mirroredSlices(target: Target): Selection {
  return slices(target, MANAGED_BY_MIRRORING, false);
}

function slices({ namespace = "", name }: Target, managedBy: string, listed: boolean): Selection {
  const labels = { [SERVICE_LABEL]: `${IMPORTED_PREFIX}${name}`, [MANAGED_BY_LABEL]: managedBy };
  return { type: ENDPOINT_SLICES, namespace, labels, listed };
}
