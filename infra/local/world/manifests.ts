import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { UserError } from "../../../lib/base/user-error.ts";

/** An object of a manifest, as written. */
export interface Manifest {
  apiVersion?: string;
  kind?: string;
  metadata?: { name?: string; namespace?: string; annotations?: Record<string, string> };
  readonly items?: unknown;
  [field: string]: unknown;
}

/** A member's ClusterSet, as far as the world needs it. */
export interface MemberClusterSet {
  readonly name: string;
  /** Namespace in the member. */
  readonly namespace: string;
  readonly clusterId: string;
  readonly leaderId: string;
  /** Namespace of the common area in the leader. */
  readonly leaderNamespace: string;
  readonly secret: string;
}

/** One member to be: its name and everything that is applied in it. */
export interface MemberManifests {
  readonly cluster: string;
  readonly clusterSet: MemberClusterSet;
  readonly objects: readonly Manifest[];
}

/** What a folder of manifests describes. */
export interface WorldManifests {
  readonly leader: readonly Manifest[];
  readonly members: readonly MemberManifests[];
}

/** The folder cannot be used; shown without a stack. */
export class ManifestError extends Error {
  readonly errors: readonly UserError[];
  constructor(errors: readonly UserError[]) {
    super(errors.map((e) => `${e.path}: ${e.problem}. ${e.remedy}`).join("\n"));
    this.name = "ManifestError";
    this.errors = errors;
  }
}

/**
 * Reads a folder of manifests. Each file, or each sub-folder as a whole, is one cluster: a member where it holds a
 * ClusterSet with a `namespace` and a `secret` (the form that Antrea's guide uses in members), else a part of the leader.
 */
export function readManifests(folder: string): WorldManifests {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new ManifestError([{ path: folder, problem: "is not a folder", remedy: "Name a folder with YAML files" }]);
  }
  const leader: Manifest[] = [];
  const members: MemberManifests[] = [];
  for (const [name, files] of groups(folder)) {
    const objects = files.flatMap((file) => readObjects(file));
    const clusterSets = objects.filter((object) => isMemberClusterSet(object));
    const [first, second] = clusterSets;
    if (second !== undefined) {
      throw new ManifestError([
        {
          path: files.join(", "),
          problem: "holds two members' ClusterSets",
          remedy: "Give each member a file or a folder of its own",
        },
      ]);
    }
    if (first === undefined) leader.push(...objects);
    else if (!CLUSTER_NAME.test(name) || members.some((m) => m.cluster === name)) throw misnamed(name, files);
    else members.push({ cluster: name, clusterSet: readClusterSet(first, files.join(", ")), objects });
  }
  refuseTwins(members);
  if (members.length === 0) {
    throw new ManifestError([
      {
        path: folder,
        problem: "holds no member",
        remedy: "A member is a ClusterSet with spec.namespace and spec.leaders[0].secret, and its token Secret",
      },
    ]);
  }
  return { leader, members };
}

/** Two members under one ID would send the same announce. */
function refuseTwins(members: readonly MemberManifests[]): void {
  for (const [index, { cluster, clusterSet }] of members.entries()) {
    const twin = members.slice(0, index).find((m) => m.clusterSet.clusterId === clusterSet.clusterId);
    if (twin === undefined) continue;
    const problem = `the ClusterSet has the spec.clusterID "${clusterSet.clusterId}" of member ${twin.cluster}`;
    throw new ManifestError([{ path: cluster, problem, remedy: "Give each member an ID of its own" }]);
  }
}

/** A DNS-1123 label: the file's or folder's name becomes the name of the membership. */
const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function misnamed(name: string, files: readonly string[]): ManifestError {
  const problem = `"${name}" cannot be the name of this member: it is no DNS-1123 label, or another one has it`;
  return new ManifestError([{ path: files.join(", "), problem, remedy: "Rename the file or folder" }]);
}

function groups(folder: string): [string, string[]][] {
  const found: [string, string[]][] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => a.name.localeCompare(b.name))) {
    const place = join(folder, entry.name);
    if (entry.isDirectory()) {
      const files = readdirSync(place, { recursive: true, encoding: "utf8" })
        .filter((f) => isManifestFile(f))
        .toSorted();
      if (files.length > 0) found.push([entry.name, files.map((file) => join(place, file))]);
    } else if (isManifestFile(entry.name)) {
      found.push([basename(entry.name, extname(entry.name)), [place]]);
    }
  }
  return found;
}

function isManifestFile(file: string): boolean {
  return [".yaml", ".yml", ".json"].includes(extname(file));
}

function readObjects(file: string): Manifest[] {
  return parseAllDocuments(readFileSync(file, "utf8")).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) {
      throw new ManifestError([
        { path: file, problem: `is not YAML: ${error.message.split("\n")[0]}`, remedy: "Mend the file" },
      ]);
    }
    const object: unknown = document.toJS();
    if (object === null) return [];
    return isManifest(object) && object.kind === "List" ? readItems(object, file) : [checked(object, file)];
  });
}

function readItems(list: Manifest, file: string): Manifest[] {
  const { items } = list;
  return Array.isArray(items) ? items.map((item: unknown) => checked(item, file)) : [];
}

function checked(object: unknown, file: string): Manifest {
  if (isManifest(object)) return object;
  const problem = "holds something that is no Kubernetes object";
  throw new ManifestError([{ path: file, problem, remedy: "An object has apiVersion, kind and metadata.name" }]);
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind, metadata } = value as Record<string, unknown>;
  const isNamed = kind === "List" || (typeof metadata === "object" && metadata !== null && "name" in metadata);
  return typeof apiVersion === "string" && typeof kind === "string" && isNamed;
}

/** As written: whatever stands there, of any type. */
interface ClusterSetSpec {
  readonly clusterID?: unknown;
  readonly namespace?: unknown;
  readonly leaders?: readonly { readonly clusterID?: unknown; readonly secret?: unknown }[];
}

/** RFC 1123 subdomain. Each of these names becomes a part of the names of other objects. */
const OBJECT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function isMemberClusterSet(object: Manifest): boolean {
  const spec = object["spec"] as ClusterSetSpec | undefined;
  return object.kind === "ClusterSet" && (spec?.namespace !== undefined || spec?.leaders?.[0]?.secret !== undefined);
}

function readClusterSet(object: Manifest, path: string): MemberClusterSet {
  const spec = (object["spec"] ?? {}) as ClusterSetSpec;
  const leader = spec.leaders?.[0];
  const refuse = (problem: string, remedy: string): never => {
    throw new ManifestError([{ path, problem: `the ClusterSet ${problem}`, remedy }]);
  };
  const need = (value: unknown, field: string): string => {
    if (value === undefined || value === null || value === "") {
      return refuse(`has no ${field}`, "A member's ClusterSet needs it");
    }
    if (typeof value !== "string") return refuse(`has a ${field} that is no text`, "Put quotes around the value");
    if (OBJECT_NAME.test(value)) return value;
    return refuse(
      `has the ${field} "${value}", which is no name in Kubernetes`,
      "Use lower-case letters, digits, dashes and dots, with a letter or digit at both ends",
    );
  };
  return {
    name: need(object.metadata?.name, "metadata.name"),
    namespace: need(object.metadata?.namespace ?? "kube-system", "metadata.namespace"),
    clusterId: need(spec.clusterID, "spec.clusterID"),
    leaderId: need(leader?.clusterID, "spec.leaders[0].clusterID"),
    leaderNamespace: need(spec.namespace, "spec.namespace"),
    secret: need(leader?.secret, "spec.leaders[0].secret"),
  };
}
