import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import type { Manifest, MemberClusterSet } from "./manifests.ts";

const KUBERNETES = fileURLToPath(new URL("../../kubernetes/", import.meta.url));
const LOCAL_LEADER = fileURLToPath(new URL("../leader/", import.meta.url));

/** The objects that give each identity its rights: those which a user applies, with this world's names in them. */

const BOTH = ["clustersets", "memberclusterannounces"];
const DEFINITIONS = {
  leader: [...BOTH, "resourceexports", "resourceimports"],
  member: [...BOTH, "serviceimports", "clusterinfoimports", "labelidentities", "clusternetworkpolicies", "tiers"],
} as const;

/** The CustomResourceDefinitions that a leader or a member needs. */
export function customResourceDefinitions(of: keyof typeof DEFINITIONS): Manifest[] {
  return DEFINITIONS[of].flatMap((name) => read(`${KUBERNETES}crds/${name}.yaml`));
}

/** Hawser's identity in a member. */
export function memberIdentity(clusterSet: MemberClusterSet): Manifest[] {
  return read(`${KUBERNETES}member/hawser.yaml`).map((object) => {
    const antrea = object.metadata?.name === "hawser-antrea-member";
    const placed = antrea ? { ...object, metadata: { ...object.metadata, namespace: clusterSet.namespace } } : object;
    return replaceText(placed, { "member-east-token": clusterSet.secret });
  });
}

/** A member's identity in the leader: ServiceAccount, token Secret and RoleBinding. */
export function leaderIdentity(clusterSet: MemberClusterSet): Manifest[] {
  const account = memberServiceAccount(clusterSet);
  return read(`${KUBERNETES}leader/member.yaml`).map((object) =>
    replaceText(object, {
      "member-east": account,
      "member-east-token": `${account}-token`,
      east: clusterSet.clusterId,
      "antrea-multicluster": clusterSet.leaderNamespace,
    }),
  );
}

/** The Role of members in a leader that runs Antrea, and the simulated leader's own identity. */
export function leaderRoles(namespace: string): Manifest[] {
  return [...read(`${LOCAL_LEADER}member-cluster-role.yaml`), ...read(`${LOCAL_LEADER}rbac.yaml`)].map((object) =>
    replaceText(object, { "antrea-multicluster": namespace }),
  );
}

/** Name of the ServiceAccount that a member has in the leader. */
export function memberServiceAccount(clusterSet: MemberClusterSet): string {
  return `member-${clusterSet.clusterId}`;
}

function read(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS() as Manifest);
}

/** Replaces whole string values, wherever they stand. */
function replaceText(object: Manifest, names: Readonly<Record<string, string>>): Manifest {
  return JSON.parse(JSON.stringify(object), (_key, value: unknown) =>
    typeof value === "string" && Object.hasOwn(names, value) ? names[value] : value,
  ) as Manifest;
}
