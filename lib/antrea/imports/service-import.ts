import type { KubeObject, ObjectRef } from "../../kube/client.ts";
import type { ImportedObject, ImportRecord } from "../../state/imports.ts";
import { showsAsGiven } from "./canonical.ts";
import {
  IMPORTED_PREFIX,
  importedObject,
  memberRef,
  newObject,
  SERVICE_IMPORTS,
  SERVICES,
} from "./member-resources.ts";
import { IMPORTED_SERVICE, isGoing, isMarked, isRecorded, MADE_BY, markedTargets } from "./ownership.ts";
import { atRest, invalid, invalidTarget, planDeletes, taken, waitForDeletion, writes } from "./plans.ts";
import type { ImportAction, ImportKind, ImportPlan, PlanInput, RemovalInput } from "./reconciler.ts";
import { isRecord, type ResourceImport } from "./resource-import.ts";
import { planPorts, readServicePorts, type ServicePort } from "./service-ports.ts";

type Target = ImportRecord["target"];

/**
 * `ServiceImport`: the Service `antrea-mc-<name>` without a selector, which Antrea's proxy serves, and the ServiceImport
 * `<name>` with the Service's ClusterIP as its address. On the Service only the ports are kept as the import says them;
 * what the server adds to them stays.
 *
 * A Service without the importer's annotation is its user's, and so is a ServiceImport that neither carries it nor stands
 * in the record; but one beside an annotated Service of the in-cluster agent, which marks no ServiceImport, is that agent's.
 */
export const serviceImport: ImportKind = {
  kind: "ServiceImport",
  target: ({ specName, specNamespace }) => ({ namespace: specNamespace, name: specName }),
  judge: (wanted, settings) =>
    invalid(invalidTarget(serviceImport.target(wanted, settings), IMPORTED_PREFIX) ?? payloadFault(wanted)),
  looksAt: ({ target }) => [serviceRef(target), serviceImportRef(target)],
  targetsOf: (objects) => {
    const services = markedTargets(objects.all(SERVICES), IMPORTED_SERVICE, IMPORTED_PREFIX);
    const imports = markedTargets(objects.all(SERVICE_IMPORTS), IMPORTED_SERVICE, "");
    const byAddress = [...services, ...imports].map(
      (target) => [`${target.namespace}/${target.name}`, target] as const,
    );
    return [...new Map(byAddress).values()];
  },
  owned: ({ target, record, observed }) => {
    const { service, imported } = find(observed, target);
    const owned: ImportedObject[] = [];
    if (service !== undefined && isMarked(service, IMPORTED_SERVICE)) owned.push(importedObject(SERVICES, service));
    if (imported !== undefined && isOurs(imported, service, record)) {
      owned.push(importedObject(SERVICE_IMPORTS, imported));
    }
    return owned;
  },
  plan: planServiceImport,
  planRemoval: ({ target, record, observed }) => {
    const { service, imported } = find(observed, target);
    const ours = imported !== undefined && isOurs(imported, service, record) ? imported : undefined;
    const entries = [
      { type: SERVICES, ref: serviceRef(target), object: service, marker: IMPORTED_SERVICE },
      { type: SERVICE_IMPORTS, ref: serviceImportRef(target), object: ours, marker: undefined },
    ];
    // What is known to be ours by the Service beside it alone goes before the Service does.
    const leaning = ours !== undefined && !isMarked(ours, IMPORTED_SERVICE) && !isRecorded(ours, record);
    return planDeletes(leaning ? entries.toReversed() : entries, record);
  },
};

function planServiceImport({ wanted, record, observed, settings }: PlanInput): ImportPlan {
  const target = serviceImport.target(wanted, settings);
  const { service, imported } = find(observed, target);
  if (service !== undefined && !isMarked(service, IMPORTED_SERVICE)) return taken(SERVICES, serviceRef(target));
  if (imported !== undefined && !isOurs(imported, service, record)) {
    return taken(SERVICE_IMPORTS, serviceImportRef(target));
  }
  const going = [service, imported].find((object) => object !== undefined && isGoing(object));
  if (going !== undefined) return waitForDeletion(going);
  const ports = readServicePorts(payloadPorts(wanted));
  if (service === undefined) return writes([createService(target, ports)]);
  const actions: ImportAction[] = [];
  const change = planPorts(isRecord(service["spec"]) ? service["spec"]["ports"] : undefined, ports);
  if (change !== undefined) {
    const spec = isRecord(service["spec"]) ? service["spec"] : {};
    const object = { ...service, spec: { ...spec, ports: change } };
    actions.push({ kind: "update", ref: serviceRef(target), object });
  }
  const action = planImported({ wanted, target, service, imported, fresh: record?.appliedHash !== wanted.hash });
  if (action !== undefined) actions.push(action);
  return actions.length === 0 ? atRest("Applied") : writes(actions);
}

interface ImportedInput {
  readonly wanted: ResourceImport;
  readonly target: Target;
  readonly service: KubeObject;
  readonly imported: KubeObject | undefined;
  /** This version of the import was not applied before. */
  readonly fresh: boolean;
}

/** The ServiceImport's turn comes when the Service is there: its ClusterIP is the address. */
function planImported({ wanted, target, service, imported, fresh }: ImportedInput): ImportAction | undefined {
  const spec = importedSpec(wanted, clusterIp(service));
  const ref = serviceImportRef(target);
  const marker = { [IMPORTED_SERVICE]: "true" };
  if (imported === undefined) {
    return { kind: "create", ref, object: { ...newObject(SERVICE_IMPORTS, ref, marker), spec } };
  }
  if (sameImport(spec, imported["spec"], fresh)) return undefined;
  const { metadata } = imported;
  const marked = { ...metadata, annotations: { ...metadata.annotations, ...marker } };
  return { kind: "update", ref, object: { ...imported, metadata: marked, spec } };
}

/** Fields that every version of the definition keeps. */
const OLD_FIELDS = new Set(["ports", "type", "ips", "sessionAffinity", "sessionAffinityConfig"]);

function sameImport(spec: Readonly<Record<string, unknown>>, observed: unknown, fresh: boolean): boolean {
  return isRecord(observed) && showsAsGiven(withProtocols(spec), withProtocols(observed), { old: OLD_FIELDS, fresh });
}

function withProtocols(spec: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { ports } = spec;
  if (!Array.isArray(ports)) return spec;
  return { ...spec, ports: ports.map((port) => (isRecord(port) ? { protocol: "TCP", ...port } : port)) };
}

function importedSpec({ spec }: ResourceImport, ip: string | undefined): Readonly<Record<string, unknown>> {
  const payload = isRecord(spec["serviceImport"]) ? spec["serviceImport"]["spec"] : {};
  return { ...(isRecord(payload) ? payload : {}), ...(ip === undefined ? {} : { ips: [ip] }) };
}

function createService(target: Target, ports: readonly ServicePort[]): ImportAction {
  const ref = serviceRef(target);
  const object = {
    ...newObject(SERVICES, ref, { [IMPORTED_SERVICE]: "true", [MADE_BY.key]: MADE_BY.value }),
    spec: { type: "ClusterIP", ports },
  };
  return { kind: "create", ref, object };
}

function payloadFault(wanted: ResourceImport): string | undefined {
  if (!isRecord(wanted.spec["serviceImport"]))
    return "the import has no serviceImport: the leader has written no payload";
  return readServicePorts(payloadPorts(wanted)).length === 0
    ? "its ServiceImport has no ports: a Service needs one"
    : undefined;
}

function payloadPorts({ spec }: ResourceImport): unknown {
  const payload = isRecord(spec["serviceImport"]) ? spec["serviceImport"]["spec"] : undefined;
  return isRecord(payload) ? payload["ports"] : undefined;
}

function clusterIp({ spec }: KubeObject): string | undefined {
  const ip = isRecord(spec) ? spec["clusterIP"] : undefined;
  return typeof ip === "string" && ip !== "" && ip !== "None" ? ip : undefined;
}

function isOurs(imported: KubeObject, service: KubeObject | undefined, record: RemovalInput["record"]): boolean {
  if (isMarked(imported, IMPORTED_SERVICE) || isRecorded(imported, record)) return true;
  const untouched = record === undefined || record.objects.length === 0;
  return untouched && service !== undefined && isMarked(service, IMPORTED_SERVICE) && !isMarked(service, MADE_BY.key);
}

function find(observed: PlanInput["observed"], target: Target): Record<"service" | "imported", KubeObject | undefined> {
  return { service: observed.read(serviceRef(target)), imported: observed.read(serviceImportRef(target)) };
}

function serviceRef({ namespace, name }: Target): ObjectRef {
  return memberRef(SERVICES, `${IMPORTED_PREFIX}${name}`, namespace);
}

function serviceImportRef({ namespace, name }: Target): ObjectRef {
  return memberRef(SERVICE_IMPORTS, name, namespace);
}
