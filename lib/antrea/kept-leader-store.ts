import { failed, ok, type Result } from "../base/result.ts";
import type { CredentialStore } from "../credentials/store.ts";
import { type Fault, userFault } from "./fault.ts";
import { type KeptLeader, keptLeaderReference, parseKeptLeader } from "./kept-leader.ts";

/**
 * Reads what is kept of a cluster's leader.
 * @param prefix of the parameters that Hawser itself keeps
 * @returns undefined when nothing is kept
 */
export async function readKeptLeader(
  credentials: Pick<CredentialStore, "read">,
  { prefix, cluster }: { readonly prefix: string; readonly cluster: string },
  signal: AbortSignal,
): Promise<Result<KeptLeader | undefined, Fault>> {
  const text = await credentials.read(keptLeaderReference(prefix, cluster), signal);
  if (text.ok) {
    const parsed = parseKeptLeader(text.value);
    return parsed.ok ? parsed : failed(userFault(parsed.error));
  }
  const { kind, problem, remedy } = text.error;
  if (kind === "notFound") return ok(undefined);
  const cause = kind === "denied" ? "PermissionDenied" : kind === "timeout" ? "TimedOut" : "ServerError";
  return failed({ cause, message: `${problem}; ${remedy}` });
}
