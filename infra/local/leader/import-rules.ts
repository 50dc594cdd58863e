import { createHash } from "node:crypto";
import type { ApiRecord } from "../api-client/api-client.ts";

type Json = Readonly<Record<string, unknown>>;

/** What the leader makes of the exports: imports by name, and what each export is told. */
export interface MergedExports {
  readonly imports: ReadonlyMap<string, ImportToBe>;
  /** By the name of the export; false: it cannot be converged with those before it. */
  readonly converged: ReadonlyMap<string, boolean>;
}

/** One import: its spec but for `clusterID`, which belongs to the administrator, and who contributes to it. */
export interface ImportToBe {
  readonly spec: Json;
  readonly sources: readonly string[];
}

/** An export, as far as merging looks at it. */
interface Export {
  readonly name: string;
  readonly clusterId: string;
  readonly kind: string;
  readonly target: { readonly namespace?: string; readonly name: string };
  readonly spec: Json;
}

/** Numbers of labels begin at 1; the last one is reserved (24 bits). */
const MAX_LABEL_ID = 16_777_214;

/**
 * The rules by which an Antrea leader merges ResourceExports into ResourceImports. Pure: from the exports that are not on
 * their way out and the imports that are there.
 */
export function mergeExports(exports: readonly ApiRecord[], present: readonly ApiRecord[]): MergedExports {
  const all = exports.toSorted(byAge).map(readExport);
  const imports = new Map<string, ImportToBe>();
  const converged = new Map<string, boolean>();
  const before = new Map(present.map((one) => [one.metadata.name, one]));
  const add = (name: string, kind: string, of: readonly Export[], payload: Json): void => {
    const [first] = of;
    if (first === undefined) return;
    // Different names may be joined to the same one; who came first has it.
    const known = imports.get(name)?.spec ?? recordIn(before.get(name), "spec");
    if (known !== undefined && !isSame(known, kind, first.target)) return;
    const spec = { kind, ...(kind === "LabelIdentity" ? {} : first.target), ...payload };
    imports.set(name, { spec, sources: of.map(({ clusterId }) => clusterId) });
    for (const one of of) converged.set(one.name, true);
  };

  for (const [target, group] of groupBy(all, "Service")) {
    const name = `${target}-service`;
    const kept = recordIn(recordIn(recordIn(before.get(name), "spec"), "serviceImport"), "spec")?.["ports"];
    const reference = group.map(portsOf).find((ports) => text(ports) === text(kept)) ?? portsOf(group[0]);
    const same = group.filter((one) => text(portsOf(one)) === text(reference));
    for (const one of group) converged.set(one.name, same.includes(one));
    add(name, "ServiceImport", same, { serviceImport: { spec: { type: "ClusterSetIP", ports: reference } } });
  }
  for (const [target, group] of groupBy(all, "Endpoints")) {
    const merged = group.filter((one) => isServiceConverged(one, all, converged));
    const subsets = merged.flatMap(({ spec }) => listIn(recordIn(spec, "endpoints"), "subsets"));
    add(`${target}-endpoints`, "Endpoints", merged, { endpoints: { subsets } });
  }
  for (const one of all.filter(({ kind }) => kind === "AntreaClusterNetworkPolicy")) {
    const name = `${one.target.name}-antreaclusternetworkpolicy`;
    const clusternetworkpolicy = recordIn(one.spec, "clusterNetworkPolicy") ?? {};
    if (!imports.has(name))
      add(name, one.kind, [{ ...one, target: { name: one.target.name } }], { clusternetworkpolicy });
  }
  for (const one of all.filter(({ kind }) => kind === "ClusterInfo")) {
    add(one.name, "ClusterInfo", [one], { clusterinfo: recordIn(one.spec, "clusterInfo") ?? {} });
  }
  addLabels(all, before, add);
  return { imports, converged };
}

/** A label keeps the number that it has; a new one gets the lowest that is free. */
function addLabels(
  all: readonly Export[],
  before: ReadonlyMap<string, ApiRecord>,
  add: (name: string, kind: string, of: readonly Export[], payload: Json) => void,
): void {
  const labelOf = ({ spec }: Export): string => textIn(recordIn(spec, "labelIdentity"), "normalizedLabel");
  const exports = all.filter(({ kind }) => kind === "LabelIdentity");
  const idOf = (name: string): unknown => recordIn(recordIn(before.get(name), "spec"), "labelIdentity")?.["id"];
  const names = new Map(
    exports.map((one) => [labelOf(one), createHash("sha1").update(labelOf(one)).digest("hex").slice(0, 16)]),
  );
  const taken = new Set([...names.values()].map(idOf));
  let next = 1;
  for (const [label, name] of names) {
    while (taken.has(next)) next += 1;
    const id = idOf(name) ?? next;
    if (typeof id !== "number" || id > MAX_LABEL_ID) continue;
    taken.add(id);
    const of = exports.filter((one) => labelOf(one) === label);
    add(name, "LabelIdentity", of, { labelIdentity: { label, id } });
  }
}

/** The addresses of a Service whose ports do not fit are not merged either. */
function isServiceConverged(one: Export, all: readonly Export[], converged: ReadonlyMap<string, boolean>): boolean {
  const service = all.find(
    ({ kind, clusterId, target }) =>
      kind === "Service" && clusterId === one.clusterId && text(target) === text(one.target),
  );
  return service !== undefined && converged.get(service.name) === true;
}

function groupBy(all: readonly Export[], kind: string): readonly (readonly [string, Export[]])[] {
  const groups = Map.groupBy(
    all.filter((one) => one.kind === kind),
    ({ target }) => text(target),
  );
  return [...groups.values()].map((group) => [joined(group[0]?.target), group] as const);
}

function joined(target: Export["target"] | undefined): string {
  return `${target?.namespace ?? ""}-${target?.name ?? ""}`;
}

/** Only name, port and protocol are taken of a Service's ports. */
function portsOf(one: Export | undefined): readonly Json[] {
  return listIn(recordIn(recordIn(one?.spec, "service"), "serviceSpec"), "ports").map(({ name, port, protocol }) => ({
    ...(name === undefined || name === "" ? {} : { name }),
    port,
    protocol: protocol ?? "TCP",
  }));
}

function readExport({ metadata, ...object }: ApiRecord): Export {
  const spec = recordIn(object, "spec") ?? {};
  const { namespace } = spec;
  return {
    name: metadata.name,
    clusterId: textIn(spec, "clusterID"),
    kind: textIn(spec, "kind"),
    target: { ...(typeof namespace === "string" ? { namespace } : {}), name: textIn(spec, "name") },
    spec,
  };
}

function isSame(spec: Json, kind: string, target: Export["target"]): boolean {
  if (spec["kind"] !== kind) return false;
  return kind === "LabelIdentity" || (spec["namespace"] === target.namespace && spec["name"] === target.name);
}

function byAge(a: ApiRecord, b: ApiRecord): number {
  const age = ({ metadata }: ApiRecord): string => `${String(metadata["creationTimestamp"])} ${metadata.name}`;
  return age(a) < age(b) ? -1 : 1;
}

function recordIn(of: Json | ApiRecord | undefined, field: string): Json | undefined {
  const value: unknown = of?.[field];
  return isJson(value) ? value : undefined;
}

function textIn(of: Json | undefined, field: string): string {
  const value = of?.[field];
  return typeof value === "string" ? value : "";
}

function listIn(of: Json | undefined, field: string): readonly Json[] {
  const value = of?.[field];
  return Array.isArray(value) ? value.filter(isJson) : [];
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return JSON.stringify(value) ?? "";
}
