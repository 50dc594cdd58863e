import { createHmac } from "node:crypto";
import * as v from "valibot";
import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { Connection } from "../kube/connection.ts";
import { parseServerUrl } from "../kube/server-url.ts";
import type { LeaderConfiguration } from "./member-reading.ts";

/**
 * What it takes to leave: the leader, our name there, and the credential that was last seen to work. It is kept in the
 * credential store for the life of a membership, because the member's Secret may vanish first: `antctl mc leave`
 * deletes it right after the ClusterSet (Antrea Multi-cluster behaviour). Holds a secret: never logged, never in the table.
 */
export interface KeptLeader {
  /** The leader's API server, in its normal form. */
  readonly server: string;
  /** PEM certificates that the server is verified with. */
  readonly ca: string;
  readonly token: string;
  /** Namespace of the common area in the leader. */
  readonly commonArea: string;
  /** ID of the member within the ClusterSet. */
  readonly clusterID: string;
  readonly leaderClusterID: string;
  readonly clusterSetID: string;
}

/** A text that is there. */
const filled = v.pipe(v.string(), v.nonEmpty());

const KEPT: v.GenericSchema<unknown, KeptLeader> = v.object({
  server: filled,
  ca: filled,
  token: filled,
  commonArea: filled,
  clusterID: filled,
  leaderClusterID: filled,
  clusterSetID: filled,
});

/**
 * Under which name a cluster's leader is kept.
 * @param prefix of the parameters that Hawser itself keeps (`/hawser/prod/`); functions may write below `leaders/` alone
 */
export function keptLeaderReference(prefix: string, cluster: string): string {
  return `${prefix}leaders/${cluster}`;
}

/** What is to be kept of a leader that the member names; undefined where it has no token to keep. */
export function keptLeaderOf({ spec, connection }: LeaderConfiguration): KeptLeader | undefined {
  const { ca, credential } = connection;
  if (ca === undefined || credential.kind !== "token") return undefined;
  const { server, commonArea, clusterID, leaderClusterID, clusterSetID } = spec;
  return { server, ca, token: credential.token, commonArea, clusterID, leaderClusterID, clusterSetID };
}

/** As text for the credential store: the same leader is always the same text. */
export function serialiseKeptLeader(kept: KeptLeader): string {
  const { server, ca, token, commonArea, clusterID, leaderClusterID, clusterSetID } = kept;
  return JSON.stringify({ server, ca, token, commonArea, clusterID, leaderClusterID, clusterSetID });
}

/** Reads what was kept; a problem never repeats any of it. */
export function parseKeptLeader(text: string): Result<KeptLeader, UserError> {
  const parsed = v.safeParse(KEPT, jsonOf(text), { abortEarly: true });
  if (parsed.success) return ok(parsed.output);
  return failed({
    path: "kept leader",
    problem: "what is kept of the leader cannot be read",
    remedy:
      "It is written anew while the member is connected; else leave with --force and delete the announce by hand.",
  });
}

/**
 * Stands in the table for what is kept, so that the store is written only when that changes.
 * @param key the membership's cluster UID: without it nobody can try out tokens against the hash
 */
export function keptLeaderHash(key: string, kept: KeptLeader): string {
  return createHmac("sha256", key).update(serialiseKeptLeader(kept)).digest("base64url");
}

/** The connection to the kept leader. */
export function keptLeaderConnection(kept: KeptLeader): Result<Connection, UserError> {
  const server = parseServerUrl(kept.server);
  if (!server.ok) return failed({ path: "kept leader", ...server.error });
  return ok({ server: server.value, ca: kept.ca, credential: { kind: "token", token: kept.token } });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
