import type { V1Secret } from "@kubernetes/client-node";
import { failed, ok, type Result } from "../../base/result.ts";
import type { UserError } from "../../base/user-error.ts";
import type { KubeObject } from "../client.ts";
import type { Connection } from "../connection.ts";
import { parseServerUrl } from "../server-url.ts";
import { certificateProblem } from "./pem.ts";
import { readToken } from "./token.ts";

/** The Secret of which cluster is read. */
export interface SecretSource {
  /** Hawser's name of the cluster that has the Secret. */
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * The connection to a leader: the server URL of the ClusterSet with the `ca.crt` and `token` of the member's Secret.
 * The problems contain the words that the in-cluster agent uses (Antrea Multi-cluster behaviour), and never any part of
 * a token.
 */
export function connectionFromSecret(
  secret: KubeObject,
  source: SecretSource,
  serverUrl: string,
): Result<Connection, UserError> {
  const server = parseServerUrl(serverUrl);
  if (!server.ok) {
    const { problem, remedy } = server.error;
    return failed({ path: "spec.leaders[0].server", problem: `${problem} (ClusterSet in ${source.cluster})`, remedy });
  }
  const ca = readKey(secret, "ca.crt");
  if (ca === undefined || ca.trim() === "") {
    return failed(problemOf(source, "ca.crt", `ca.crt data not found in Secret ${source.name}`));
  }
  const bad = certificateProblem(ca);
  if (bad !== undefined) return failed(problemOf(source, "ca.crt", `ca.crt of Secret ${source.name} ${bad}`));
  const text = readKey(secret, "token");
  const reading = readToken(text ?? "");
  switch (reading.kind) {
    case "token":
      return ok({ server: server.value, ca, credential: { kind: "token", token: reading.token } });
    case "empty": {
      const empty = text === undefined ? "" : ": the key is there, but empty";
      return failed(problemOf(source, "token", `token not found in Secret ${source.name}${empty}`));
    }
    case "unusable":
      return failed(problemOf(source, "token", `token of Secret ${source.name} holds characters that no token has`));
  }
}

/** What to say when the Secret itself is not there. */
export function missingSecret(source: SecretSource): UserError {
  return problemOf(source, undefined, `Secret ${source.name} not found`);
}

function problemOf(source: SecretSource, key: string | undefined, words: string): UserError {
  const { cluster, namespace, name } = source;
  const path = `Secret ${namespace}/${name}${key === undefined ? "" : ` data["${key}"]`}`;
  return {
    path,
    problem: `${words} (cluster ${cluster}, Namespace ${namespace})`,
    remedy:
      "Make it from the leader's token Secret of this member, whose ca.crt and token are saved in two files: " +
      `kubectl -n ${namespace} create secret generic ${name} --from-file=ca.crt --from-file=token`,
  };
}

function readKey(secret: KubeObject, key: string): string | undefined {
  // What a server sent is not trusted to be of its type.
  const { data }: { readonly [K in keyof V1Secret]?: unknown } = secret;
  if (typeof data !== "object" || data === null) return undefined;
  const value: unknown = new Map(Object.entries(data)).get(key);
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : undefined;
}
