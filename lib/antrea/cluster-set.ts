import * as v from "valibot";
import { failed, ok, type Result } from "../base/result.ts";
import type { CallOptions, KubeObject } from "../kube/client.ts";
import { parseServerUrl } from "../kube/server-url.ts";
import { type Fault, memberFault } from "./fault.ts";
import type { MemberCluster } from "./ports.ts";
import { CLUSTER_SETS, clusterSetRef } from "./resources.ts";

/** The ClusterSet that a membership follows: one by name, or the only one of the Namespace. */
export interface ClusterSetChoice {
  readonly namespace: string;
  readonly clusterSet?: string;
}

/** What a ClusterSet says of member and leader, checked. */
export interface ClusterSetSpec {
  /** ID of the member within the ClusterSet. */
  readonly clusterID: string;
  /** Name of the ClusterSet, the same in leader and members. */
  readonly clusterSetID: string;
  readonly leaderClusterID: string;
  /** The leader's API server, in its normal form. */
  readonly server: string;
  /** Name of the Secret in the ClusterSet's own Namespace. */
  readonly secret: string;
  /** Namespace of the common area in the leader. */
  readonly commonArea: string;
}

/** All that a beat needs of it: the same for a leader that was kept, whose Secret may be gone. */
export type LeaderTarget = Omit<ClusterSetSpec, "secret">;

/** How the search for the ClusterSet ended. */
export type ClusterSetSearch =
  | { readonly kind: "found"; readonly object: KubeObject }
  /** There is none (yet): not an error. */
  | { readonly kind: "missing"; readonly fault: Fault }
  /** More than one, and none is named. */
  | { readonly kind: "ambiguous"; readonly fault: Fault }
  | { readonly kind: "unreadable"; readonly fault: Fault };

/** Finds the ClusterSet of a membership in the member. */
export async function findClusterSet(
  member: Pick<MemberCluster, "cluster" | "get" | "list">,
  choice: ClusterSetChoice,
  options: CallOptions,
): Promise<ClusterSetSearch> {
  const { namespace, clusterSet } = choice;
  if (clusterSet !== undefined) {
    const answer = await member.get(clusterSetRef(namespace, clusterSet), options);
    if (answer.ok) return { kind: "found", object: answer.value.object };
    if (answer.error.kind !== "notFound") return { kind: "unreadable", fault: memberFault(answer.error) };
    return missing(`ClusterSet ${clusterSet} not found in Namespace ${namespace} of member ${member.cluster}`);
  }
  const answer = await member.list(CLUSTER_SETS, namespace, options);
  if (!answer.ok) {
    if (answer.error.kind !== "notFound") return { kind: "unreadable", fault: memberFault(answer.error) };
    return missing(
      `Member ${member.cluster} does not serve ClusterSets (${CLUSTER_SETS.group}/${CLUSTER_SETS.version})`,
    );
  }
  const [first, ...others] = answer.value.items;
  if (first === undefined) return missing(`No ClusterSet in Namespace ${namespace} of member ${member.cluster}`);
  if (others.length === 0) return { kind: "found", object: first };
  const names = answer.value.items.map((o) => o.metadata.name ?? "?").toSorted();
  return {
    kind: "ambiguous",
    fault: {
      cause: "ConfigurationInvalid",
      message:
        `Namespace ${namespace} of member ${member.cluster} has ${names.length} ClusterSets (${names.slice(0, 5).join(", ")}), ` +
        "but a member belongs to one. Delete the others, or name the right one as antrea.clusterSet of the membership",
    },
  };
}

function missing(what: string): ClusterSetSearch {
  const message = `${what}. Create it as Antrea's multi-cluster guide says; it is looked for every 10 seconds`;
  return { kind: "missing", fault: { cause: "ClusterSetMissing", message } };
}

/** A text that must be there; an absent one is treated like an empty one, so that the message says what to set. */
function text(missing: string): v.GenericSchema<string | undefined, string> {
  return v.optional(v.pipe(v.string("is not a string"), v.nonEmpty(missing)), "");
}

/** RFC 1123 label: a cluster ID becomes part of an object's name, a label's value and a finalizer's name. */
function label(missing: string): v.GenericSchema<string | undefined, string> {
  return v.optional(
    v.pipe(
      v.string("is not a string"),
      v.nonEmpty(missing),
      v.maxLength(63, "is longer than 63 characters"),
      v.regex(
        /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
        "is not a DNS-1123 label (a to z, 0 to 9 and '-', no '-' at the ends)",
      ),
    ),
    "",
  );
}

const LEADER = v.object(
  {
    clusterID: text("is missing: set it to the leader's own cluster ID"),
    server: text("is missing: set it to the leader's API server, https://HOST:PORT"),
    secret: text("is missing: set it to the name of the Secret with the leader's ca.crt and token"),
  },
  "is not an object",
);

const SPEC = v.object(
  {
    clusterID: label("is missing: set it to the ID of this member within the ClusterSet"),
    leaders: v.optional(v.pipe(v.array(LEADER, "is not a list"), v.length(1, "must name exactly one leader")), []),
    namespace: label("is missing: set it to the leader's Namespace of the common area, usually antrea-multicluster"),
  },
  "is not an object",
);

/** Checks a member's ClusterSet at the edge. The fault names member, object, each field in question and what to do. */
export function parseClusterSet(object: KubeObject, member: string): Result<ClusterSetSpec, Fault> {
  const name = object.metadata.name ?? "";
  const wrong = (problems: readonly string[]): Result<never, Fault> =>
    failed({
      cause: "ConfigurationInvalid",
      message: `ClusterSet ${object.metadata.namespace ?? "?"}/${name} of member ${member}: ${problems.join("; ")}`,
    });
  const parsed = v.safeParse(SPEC, object["spec"] ?? {}, { abortPipeEarly: true });
  if (!parsed.success) {
    return wrong(parsed.issues.map((issue) => `${pathOf(issue)} ${issue.message}`));
  }
  const [leader] = parsed.output.leaders;
  if (leader === undefined) return wrong(["spec.leaders must name exactly one leader"]);
  const server = parseServerUrl(leader.server);
  if (!server.ok) return wrong([`spec.leaders.0.server: ${server.error.problem}. ${server.error.remedy}`]);
  return ok({
    clusterID: parsed.output.clusterID,
    clusterSetID: name,
    leaderClusterID: leader.clusterID,
    server: server.value.href,
    secret: leader.secret,
    commonArea: parsed.output.namespace,
  });
}

function pathOf(issue: v.BaseIssue<unknown>): string {
  const path = v.getDotPath(issue);
  return path === null ? "spec" : `spec.${path}`;
}

/** The leader's ID as far as it can be told, also of a ClusterSet that is not valid. */
export function leaderOf(object: KubeObject): string | undefined {
  const parsed = v.safeParse(v.object({ leaders: v.array(v.object({ clusterID: v.string() })) }), object["spec"]);
  const id = parsed.success ? parsed.output.leaders[0]?.clusterID : undefined;
  return id === "" ? undefined : id;
}
