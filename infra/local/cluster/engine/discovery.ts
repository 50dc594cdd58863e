import type { VirtualResource } from "../types.ts";
import type { Core } from "./core.ts";
import { apiVersionOf, type ResourceType, type ResourceVersion } from "./resource-type.ts";

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/** In another order, as real servers list them. */
const CUSTOM_VERBS = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const SUBRESOURCE_VERBS = ["get", "patch", "update"];
/** Namespaces go one by one, and their finalizers in one way. */
const NAMESPACE_VERBS = VERBS.filter((verb) => verb !== "deletecollection");
const FINALIZE_VERBS = ["update"];

type Document = Record<string, unknown>;

/** The discovery document of a path, in the form that is not aggregated; undefined where nothing is served. */
export function discoveryDocument(core: Core, virtual: readonly VirtualResource[], path: string): Document | undefined {
  const steps = path.split("/").filter((step) => step !== "");
  if (steps[0] === "api") {
    if (steps.length === 1) return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
    return steps.length === 2 ? resourceList(core, virtual, "", steps[1] ?? "") : undefined;
  }
  if (steps[0] !== "apis") return undefined;
  const group = steps[1];
  if (group === undefined) return { kind: "APIGroupList", apiVersion: "v1", groups: groups(core, virtual) };
  if (steps.length === 2) {
    const found = groups(core, virtual).find((g) => g["name"] === group);
    return found === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...found };
  }
  return steps.length === 3 ? resourceList(core, virtual, group, steps[2] ?? "") : undefined;
}

function groups(core: Core, virtual: readonly VirtualResource[]): readonly Document[] {
  const versions = new Map<string, Set<string>>();
  const serve = (group: string, version: string): void => {
    if (group !== "") versions.set(group, (versions.get(group) ?? new Set()).add(version));
  };
  for (const type of core.registry.all()) for (const v of type.versions) if (v.served) serve(type.group, v.name);
  for (const { group, version } of virtual) serve(group, version);
  return [...versions].map(([name, names]) => {
    const list = [...names].toSorted(byStability).map((version) => ({ groupVersion: `${name}/${version}`, version }));
    return { name, versions: list, preferredVersion: list[0] };
  });
}

/** v2, v1, v1beta2, v1beta1, v1alpha1: the most stable and newest first. */
function byStability(a: string, b: string): number {
  const rank = (version: string): number => {
    const parts = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
    if (parts === null) return -1;
    const stability = parts[2] === undefined ? 2 : parts[2] === "beta" ? 1 : 0;
    return stability * 1e6 + Number(parts[1]) * 1e3 + Number(parts[3] ?? 0);
  };
  return rank(b) - rank(a) || (a < b ? -1 : 1);
}

function resourceList(
  core: Core,
  virtual: readonly VirtualResource[],
  group: string,
  version: string,
): Document | undefined {
  const stored = core.registry.all().flatMap((type) => {
    const served = type.group === group ? type.versions.find((v) => v.name === version && v.served) : undefined;
    return served === undefined ? [] : describe(type, served);
  });
  const answered = virtual.filter((v) => v.group === group && v.version === version);
  const resources = [...stored, ...answered.map(describeVirtual)];
  if (resources.length === 0) return undefined;
  const sorted = resources.toSorted((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1));
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf(group, version), resources: sorted };
}

function describe(type: ResourceType, version: ResourceVersion): readonly Document[] {
  const common = { namespaced: type.namespaced, kind: type.kind };
  const main: Document = {
    name: type.resource,
    singularName: type.singular,
    ...common,
    verbs: type.custom ? CUSTOM_VERBS : isNamespaces(type) ? NAMESPACE_VERBS : VERBS,
    ...(type.shortNames.length === 0 ? {} : { shortNames: type.shortNames }),
    ...(type.categories.length === 0 ? {} : { categories: type.categories }),
  };
  const sub = [...version.subresources].map((s) => ({
    name: `${type.resource}/${s}`,
    singularName: "",
    ...common,
    verbs: isNamespaces(type) && s === "finalize" ? FINALIZE_VERBS : SUBRESOURCE_VERBS,
  }));
  return [main, ...sub];
}

function isNamespaces({ group, resource }: ResourceType): boolean {
  return group === "" && resource === "namespaces";
}

function describeVirtual(virtual: VirtualResource): Document {
  const { group, version, kind, namespaced, resource, subresource } = virtual;
  const common = { namespaced, kind, verbs: ["create"] };
  if (subresource === undefined) return { name: resource, singularName: kind.toLowerCase(), ...common };
  const own = virtual.kindGroup ?? { group, version };
  return { name: `${resource}/${subresource}`, singularName: "", ...own, ...common };
}
