import type { Clock } from "../base/clock.ts";
import type { MembershipKey } from "../state/membership.ts";
import { checkBaton } from "./aws/baton.ts";
import { checkBeats } from "./aws/beats.ts";
import { checkFunction } from "./aws/function.ts";
import { checkImports } from "./aws/imports.ts";
import { checkMembership } from "./aws/membership.ts";
import { BEATING_ROLE } from "./aws/role-check.ts";
import { checkSchedule } from "./aws/schedule.ts";
import { checkTable } from "./aws/table.ts";
import { checkWatch } from "./aws/watch.ts";
import { type Asked, type CheckReport, Examination } from "./examination.ts";
import { checkAnnounce } from "./leader/announce.ts";
import { checkClusterIDs } from "./leader/cluster-ids.ts";
import { checkCommonArea } from "./leader/common-area.ts";
import { checkIdentity } from "./leader/identity.ts";
import { checkLeaderRights } from "./leader/rights.ts";
import { checkWebhook } from "./leader/webhook.ts";
import { checkAccess } from "./member/access.ts";
import { checkClusterSet } from "./member/cluster-set.ts";
import { checkImportRights } from "./member/import-rights.ts";
import { checkMemberRights } from "./member/rights.ts";
import { checkSecret } from "./member/secret.ts";
import type { DoctorPorts } from "./ports.ts";
import { type Authenticated, checkAuthentication } from "./way/authentication.ts";
import { checkName } from "./way/name.ts";
import { checkClock } from "./way/server-clock.ts";
import { checkTcp } from "./way/tcp.ts";
import { checkTls } from "./way/tls.ts";
import type { Target, Way } from "./way/way.ts";

/** All checks together, in milliseconds. */
const BUDGET_MS = 9_000;

/** The role that brings the leader's imports. */
const WATCHING_ROLE = "watch";

/** What a doctor has to say of one membership. */
export interface DoctorReport extends MembershipKey {
  /** When it was asked, RFC 3339. */
  readonly at: string;
  /** Nothing failed. */
  readonly healthy: boolean;
  readonly ms: number;
  readonly checks: readonly CheckReport[];
}

/**
 * Examines one membership from end to end, from where it is called: Hawser's own side, the way to the member, the member,
 * the way to the leader, the leader. Everything runs side by side as far as it does not build on each other, and is over
 * within 10 seconds. Nothing is changed anywhere; no secret is in the report.
 */
export async function examine(key: MembershipKey, ports: DoctorPorts, signal: AbortSignal): Promise<DoctorReport> {
  const { clock, aws, clusters, antrea } = ports;
  const startedMs = clock.monotonicMs();
  const at = clock.now().toISOString();
  const examination = new Examination(clock, BUDGET_MS, signal);
  const opened: Asked<Authenticated>[] = [];

  const table = checkTable(examination, aws, key);
  const membership = checkMembership(examination, key.cluster, table);
  checkFunctions(examination, ports, membership);

  const access = checkAccess(examination, clusters, membership);
  const rejected = `Make the credential anew and put it where the membership's access points: kubectl -n kube-system get secret hawser-token -o yaml`;
  const memberWay = { side: "member", ports: clusters } as const;
  const authenticated = checkWay(examination, memberWay, { clock, remedy: rejected }, access);
  opened.push(authenticated);
  const tie = checkClusterSet(examination, antrea, membership, authenticated);
  void checkMemberRights(examination, antrea, { membership, authenticated, tie });
  void checkImportRights(examination, antrea, { membership, authenticated });
  const secret = checkSecret(examination, antrea, { membership, authenticated, tie });

  const leaderWay = { side: "leader", ports: clusters } as const;
  const revoked =
    "Make the member's token Secret in the leader anew and copy its ca.crt and token into the member: antctl mc create membertoken NAME -n NAMESPACE --cluster-id ID";
  const known = checkWay(examination, leaderWay, { clock, remedy: revoked }, secret);
  opened.push(known);
  void checkLeaderRights(examination, antrea, known, tie);
  const commonArea = checkCommonArea(examination, antrea, known, tie);
  const verdict = checkWebhook(examination, ports, { authenticated: known, tie, commonArea });
  void checkIdentity(examination, { tie, authenticated: known, verdict });
  void checkClusterIDs(examination, tie, verdict);
  void checkAnnounce(examination, ports, { membership, authenticated: known, tie, commonArea });

  const checks = await examination.reports();
  await closeAll(opened);
  const healthy = checks.every(({ outcome }) => outcome !== "failed");
  return { ...key, at, healthy, ms: Math.round(clock.monotonicMs() - startedMs), checks };
}

function checkFunctions(
  examination: Examination,
  ports: DoctorPorts,
  membership: ReturnType<typeof checkMembership>,
): void {
  void checkFunction(examination, ports.aws, BEATING_ROLE);
  void checkSchedule(examination, ports.aws, BEATING_ROLE, membership);
  const baton = checkBaton(examination, ports, BEATING_ROLE, membership);
  void checkBeats(examination, membership, baton);
  void checkFunction(examination, ports.aws, WATCHING_ROLE);
  void checkSchedule(examination, ports.aws, WATCHING_ROLE, membership);
  void checkWatch(examination, ports, membership);
  void checkImports(examination, ports.aws, membership);
}

/** Step by step to one cluster, until it knows us. */
function checkWay(
  examination: Examination,
  way: Way,
  { clock, remedy }: { readonly clock: Clock; readonly remedy: string },
  target: Asked<Target>,
): Asked<Authenticated> {
  const name = checkName(examination, way, target);
  const tcp = checkTcp(examination, way, clock, target, name);
  const tls = checkTls(examination, way, clock, target, tcp);
  const authenticated = checkAuthentication(examination, way, target, tls, remedy);
  void checkClock(examination, way, authenticated);
  return authenticated;
}

async function closeAll(opened: readonly Asked<Authenticated>[]): Promise<void> {
  for (const answer of await Promise.all(opened)) if (answer.known) await answer.value.client.close();
}
