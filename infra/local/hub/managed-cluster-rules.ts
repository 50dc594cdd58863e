import type { ApiRecord } from "../api-client/api-client.ts";
import type { Right } from "./access-question.ts";
import { CLUSTER_GROUP, CLUSTER_SET_LABEL, REGISTER_GROUP } from "./resources.ts";

const DEFAULT_SET = "default";
const NAMESPACE_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** A written ManagedCluster and what it was before. */
export interface ClusterWrite {
  readonly object: ApiRecord;
  readonly oldObject: ApiRecord | undefined;
}

/** Refused for what is written, or allowed to whoever holds all of `rights`. */
export type ClusterVerdict =
  | { readonly kind: "refused"; readonly code: number; readonly message: string }
  | { readonly kind: "allowedTo"; readonly rights: readonly Right[]; readonly accepts: boolean };

/** What the hub's mutating webhook answers: its JSON Patch, or a refusal. */
export type ClusterMutation =
  | { readonly kind: "refused"; readonly code: number; readonly message: string }
  | { readonly kind: "patched"; readonly patch: readonly object[] };

interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string | null;
}

interface ClusterSpec {
  readonly hubAcceptsClient?: boolean;
  readonly managedClusterClientConfigs?: readonly { readonly url: string }[];
  readonly taints?: readonly Taint[];
}

/** The hub's validation of a create or an update. Taking an acceptance back is free for whoever may update (ocm#1439). */
export function decideCluster({ object, oldObject }: ClusterWrite): ClusterVerdict {
  const { name } = object.metadata;
  const refused = (message: string): ClusterVerdict => ({ kind: "refused", code: 400, message });
  if (!NAMESPACE_NAME.test(name)) return refused(`the name ${JSON.stringify(name)} is no name of a Namespace`);
  const spec = specOf(object);
  const odd = (spec.managedClusterClientConfigs ?? []).find(({ url }) => !isHttps(url));
  if (odd !== undefined) return refused(`url ${JSON.stringify(odd.url)} is invalid in client configs`);
  const accepts = spec.hubAcceptsClient === true && specOf(oldObject).hubAcceptsClient !== true;
  const accept: Right = {
    verb: "update",
    group: REGISTER_GROUP,
    resource: "managedclusters",
    subresource: "accept",
    name,
  };
  return { kind: "allowedTo", rights: [...(accepts ? [accept] : []), ...joinedSets(object, oldObject)], accepts };
}

/** Puts a cluster without a set into the default one, and stamps new and changed taints. */
export function mutateCluster({ object, oldObject }: ClusterWrite, now: Date): ClusterMutation {
  const before = specOf(oldObject).taints ?? [];
  const patch: object[] = [];
  for (const [index, taint] of (specOf(object).taints ?? []).entries()) {
    const known = before.find(({ key, effect }) => key === taint.key && effect === taint.effect);
    const same = known !== undefined && (known.value ?? "") === (taint.value ?? "");
    if (same && (taint.timeAdded ?? undefined) === (known.timeAdded ?? undefined)) continue;
    if (!same && (taint.timeAdded ?? undefined) !== undefined && oldObject !== undefined) {
      const message = `It is not allowed to set TimeAdded of Taint ${JSON.stringify(taint.key)}.`;
      return { kind: "refused", code: 400, message };
    }
    const value = same ? known.timeAdded : `${now.toISOString().slice(0, 19)}Z`;
    patch.push({ op: "add", path: `/spec/taints/${index}/timeAdded`, value });
  }
  const { labels } = object.metadata;
  if ((labels?.[CLUSTER_SET_LABEL] ?? "") === "") {
    if (labels === undefined) patch.push({ op: "add", path: "/metadata/labels", value: {} });
    const path = `/metadata/labels/${CLUSTER_SET_LABEL.replaceAll("/", "~1")}`;
    patch.push({ op: "add", path, value: DEFAULT_SET });
  }
  return { kind: "patched", patch };
}

function joinedSets(object: ApiRecord, oldObject: ApiRecord | undefined): readonly Right[] {
  const [next, before] = [setOf(object), setOf(oldObject)];
  if (next === before) return [];
  const sets = [before, next].filter((set) => set !== "");
  return sets.map((name) => ({
    verb: "create",
    group: CLUSTER_GROUP,
    resource: "managedclustersets",
    subresource: "join",
    name,
  }));
}

function setOf(object: ApiRecord | undefined): string {
  return object?.metadata.labels?.[CLUSTER_SET_LABEL] ?? "";
}

function specOf(object: ApiRecord | undefined): ClusterSpec {
  return (object?.["spec"] ?? {}) as ClusterSpec;
}

function isHttps(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === "https:";
}
