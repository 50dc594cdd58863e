import type { ResourceType } from "../../kube/client.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, refused } from "../finding.ts";
import type { Cluster } from "../ports.ts";
import type { Target, Way } from "./way.ts";

/** Answers who asks; anybody who is authenticated may ask (Kubernetes 1.28 and newer). */
const SELF_SUBJECT_REVIEWS: ResourceType = {
  group: "authentication.k8s.io",
  version: "v1",
  resource: "selfsubjectreviews",
};

const TIMEOUT_MS = 2_500;

/** A cluster that knows us. */
export interface Authenticated {
  readonly client: Cluster;
  /** Who we are there, where the server says it. */
  readonly username: string | undefined;
  /** Positive when the server's clock is ahead of ours, in milliseconds, true to a second. */
  readonly clockAheadMs: number | undefined;
}

/** The credential is accepted. */
export function checkAuthentication(
  examination: Examination,
  { side, ports }: Way,
  target: Asked<Target>,
  tls: Asked<void>,
  remedy: string,
): Asked<Authenticated> {
  return examination.ask({
    side,
    check: "authentication",
    needs: [target, tls],
    tries: ({ connection }) => `ask ${connection.server.href} who we are (SelfSubjectReview)`,
    timeoutMs: TIMEOUT_MS + 500,
    ask: async ([{ name, connection }], signal) => await authenticate(ports.connect(name, connection), signal, remedy),
  });
}

async function authenticate(client: Cluster, signal: AbortSignal, remedy: string): Promise<Finding<Authenticated>> {
  const { group, version } = SELF_SUBJECT_REVIEWS;
  const review = { apiVersion: `${group}/${version}`, kind: "SelfSubjectReview", metadata: {} };
  const asked = await client.create(SELF_SUBJECT_REVIEWS, undefined, review, { timeoutMs: TIMEOUT_MS, signal });
  if (asked.ok) {
    const { object, clockAheadMs } = asked.value;
    const username = usernameOf(object["status"]);
    return passed({ client, username, clockAheadMs }, username === undefined ? "accepted" : `we are ${username}`);
  }
  // Authentication comes before everything else: an older server, or one that lets nobody ask, has accepted us.
  if (asked.error.kind === "forbidden" || asked.error.kind === "notFound") {
    return passed({ client, username: undefined, clockAheadMs: undefined }, "accepted");
  }
  await client.close();
  if (asked.error.kind === "unauthorized") return refused(asked.error, remedy);
  return refused(asked.error, REMEDIES[asked.error.kind] ?? "Look at the API server and what stands in front of it");
}

const REMEDIES: Readonly<Record<string, string>> = {
  tooManyRequests:
    "Wait; if it stays so, see which flow is limited: kubectl get --raw /debug/api_priority_and_fairness/dump_priority_levels",
  unexpected: "Correct the server URL: what answers there is no API server",
};

function usernameOf(status: unknown): string | undefined {
  if (typeof status !== "object" || status === null || !("userInfo" in status)) return undefined;
  const { userInfo } = status;
  if (typeof userInfo !== "object" || userInfo === null || !("username" in userInfo)) return undefined;
  return typeof userInfo.username === "string" ? userInfo.username : undefined;
}
