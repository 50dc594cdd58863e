import { backoffMs } from "../base/backoff.ts";
import type { Cause } from "../base/cause.ts";
import { cutText } from "../base/limits.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { ShortHold } from "../relay/short-run.ts";
import type { Membership, MembershipKey } from "../state/membership.ts";
import type { StepFault } from "./join-ports.ts";
import type { LeaveAnswer, LeaveReport, LeaveSettings, LeaveStep } from "./leave-answer.ts";
import type { LeavePorts, PartDone, PartFault } from "./leave-ports.ts";
import { removeRetired } from "./shard-schedules.ts";

/** How often it is looked whether windows have stopped beating, in milliseconds. */
const LOOK_MS = 1_000;

/** Between two tries of a leave that cannot reach a part. */
const BACKOFF = { baseMs: 60_000, capMs: 300_000 };

const AGAIN = "It is tried again every few minutes. To give up what cannot be reached, leave with --force.";

/**
 * Leaves a hub. Idempotent and resumable: after a kill between any two steps the same call again reaches the same end.
 *
 * Beats stop first, so that none makes again what is deleted; then the member is cleaned and the hub is left, each whether
 * or not the other can be reached. Only when both are done the credential goes, then the place in the shard, the schedules
 * of a shard that is empty, and last the membership itself.
 *
 * A membership whose ClusterSet was deleted is not given up: it waits for the next ClusterSet, as the in-cluster agent would.
 *
 * @param hold of the cluster's lifecycle: no other join or leave of this cluster is at work
 */
export async function leave(
  key: MembershipKey,
  settings: LeaveSettings,
  ports: LeavePorts,
  hold: Pick<ShortHold, "signal" | "mayWrite">,
): Promise<LeaveAnswer> {
  return await new LeaveRun(key, settings, ports, hold).answer();
}

/** A step that did not work. `cause` where it is one of the ways to member or hub. */
interface LeaveFault extends StepFault {
  readonly cause?: Cause;
}

type Step<T> = Promise<Result<T, LeaveFault>>;

class LeaveRun {
  readonly #key: MembershipKey;
  readonly #settings: LeaveSettings;
  readonly #ports: LeavePorts;
  readonly #hold: Pick<ShortHold, "signal" | "mayWrite">;
  readonly #steps: LeaveReport[] = [];
  readonly #orphans: string[] = [];

  constructor(
    key: MembershipKey,
    settings: LeaveSettings,
    ports: LeavePorts,
    hold: Pick<ShortHold, "signal" | "mayWrite">,
  ) {
    this.#key = { cluster: key.cluster, protocol: key.protocol };
    this.#settings = settings;
    this.#ports = ports;
    this.#hold = hold;
  }

  async answer(): Promise<LeaveAnswer> {
    const { cluster, protocol } = this.#key;
    const read = await this.#ports.memberships.readMembership(cluster, protocol, this.#hold.signal);
    if (!read.ok) return this.#notDone(read.error, false);
    const membership = read.value;
    if (membership === undefined || !(this.#settings.begin || isGoing(membership))) {
      return { ok: true, cluster, changed: false, orphans: [], steps: [] };
    }
    const done = membership.phase === "left" ? await this.#finish(membership) : await this.#leave(membership);
    if (!done.ok) return this.#notDone(done.error, true);
    return { ok: true, cluster, changed: true, orphans: this.#orphans, steps: this.#steps };
  }

  async #leave(found: Membership): Step<void> {
    const begun = await this.#begin(found);
    if (!begun.ok) return this.#failed("leaving", begun.error);
    const membership = begun.value;
    const force = membership.leave?.force ?? false;
    const stopped = await this.#stop(membership);
    if (!stopped.ok) return await this.#putOff(membership, [stopped.error]);
    const { protocol } = this.#ports;
    const faults = [
      await this.#part("member", force, (signal) => protocol.cleanMember(membership, signal)),
      await this.#part("hub", force, (signal) => protocol.leaveHub(membership, signal)),
    ].filter((fault) => fault !== undefined);
    if (faults.length > 0) return await this.#putOff(membership, faults);
    const forgotten = await this.#forget(membership);
    if (!forgotten.ok) return await this.#putOff(membership, [forgotten.error]);
    if (membership.leaveReason === "ClusterSetDeleted") return await this.#waitAgain(membership);
    const event = this.#event("Left", leftMessage(membership, this.#orphans));
    const departure = { phase: ["leaving"] as const, event };
    const detached = await this.#ports.memberships.detachMembership(this.#key, departure, this.#hold.signal);
    if (!detached.ok) return this.#failed("shard", detached.error);
    if (detached.value.kind === "refused") return this.#failed("shard", CHANGED);
    this.#steps.push({ step: "shard", outcome: "done" });
    return await this.#finish(membership);
  }

  /** The phase in the table, and with it the shard's revision, by which the windows stop. */
  async #begin(membership: Membership): Step<Membership> {
    const { leave, leaveReason, phase } = membership;
    const now = this.#now();
    const going = phase === "leaving";
    // Who asks for it takes a leave after which the membership would stay further.
    const reason = this.#settings.begin ? "Requested" : (leaveReason ?? "Requested");
    const change = {
      phase: "leaving",
      leaveReason: reason,
      leave: {
        startedAt: leave?.startedAt ?? now,
        attempts: leave?.attempts ?? 0,
        ...leave,
        force: this.#settings.force || (leave?.force ?? false),
      },
      summary: { ...(going ? membership.summary : {}), state: "Leaving", since: now },
      ...(going ? {} : { event: this.#event("Leaving", `Leaves ${hubOf(membership)} on request`) }),
    } as const;
    const { memberships } = this.#ports;
    const updated = await memberships.updateMembership(this.#key, change, {}, this.#hold.signal);
    if (!updated.ok) return updated;
    if (updated.value.kind === "absent" || updated.value.kind === "refused") return failed(CHANGED);
    this.#steps.push({ step: "leaving", outcome: updated.value.kind === "updated" ? "done" : "unchanged" });
    return ok(updated.value.membership);
  }

  /** Waits until no window beats by an older view of the shard. */
  async #stop({ shard }: Membership): Step<void> {
    const { clock, shards } = this.#ports;
    const { signal } = this.#hold;
    const read = await shards.readShard(shard, signal);
    if (!read.ok) return this.#failed("stop", read.error);
    const revision = read.value?.revision ?? 0;
    const end = clock.monotonicMs() + this.#settings.stopMs;
    for (;;) {
      const seen = await this.#ports.hasSeen(shard, revision, signal);
      if (!seen.ok) return this.#failed("stop", seen.error);
      if (seen.value) {
        this.#steps.push({ step: "stop", outcome: "done" });
        return ok(undefined);
      }
      if (signal.aborted || clock.monotonicMs() + LOOK_MS > end) {
        const message = `the window that beats for shard ${shard} has not seen yet that this cluster leaves`;
        return this.#failed("stop", { message });
      }
      await clock.sleep(LOOK_MS, signal);
    }
  }

  /** What went wrong, unless it was done or given up. */
  async #part(
    step: "member" | "hub",
    force: boolean,
    work: (signal: AbortSignal) => Promise<Result<PartDone, PartFault>>,
  ): Promise<LeaveFault | undefined> {
    if (!this.#hold.mayWrite()) return this.#failed(step, LOST).error;
    const done = await work(this.#hold.signal);
    if (done.ok) {
      this.#steps.push({ step, ...done.value });
      return undefined;
    }
    // What was broken off from outside says nothing of what can be reached.
    if (!force || this.#hold.signal.aborted) return this.#failed(step, done.error).error;
    this.#orphans.push(done.error.orphan);
    this.#steps.push({ step, outcome: "orphaned", message: `${done.error.orphan}: ${done.error.message}` });
    return undefined;
  }

  async #forget(membership: Membership): Step<void> {
    if (!this.#hold.mayWrite()) return this.#failed("credential", LOST);
    const forgotten = await this.#ports.protocol.forget(membership, this.#hold.signal);
    if (!forgotten.ok) return this.#failed("credential", forgotten.error);
    this.#steps.push({ step: "credential", outcome: "done" });
    return ok(undefined);
  }

  /** The ClusterSet is gone, the membership stays: the next ClusterSet is a new connection. */
  async #waitAgain(membership: Membership): Step<void> {
    const change = {
      phase: "joining",
      leaveReason: null,
      leave: null,
      leader: null,
      keptLeaderHash: null,
      connectedOnce: false,
      reassign: true,
      summary: { state: "Pending", cause: "ClusterSetMissing", since: this.#now() },
      event: this.#event("Left", `${leftMessage(membership, this.#orphans)} Waits for a ClusterSet`),
    } as const;
    const expect = { phase: ["leaving"], assignment: membership.assignment } as const;
    const updated = await this.#ports.memberships.updateMembership(this.#key, change, expect, this.#hold.signal);
    if (!updated.ok) return this.#failed("table", updated.error);
    if (updated.value.kind === "refused") return this.#failed("table", CHANGED);
    this.#steps.push({ step: "table", outcome: "done", message: "it stays, and waits for a ClusterSet" });
    return ok(undefined);
  }

  /** What is left to do for a membership that is out of its shard. */
  async #finish({ shard }: Membership): Step<void> {
    const { shards, memberships } = this.#ports;
    const { signal } = this.#hold;
    const read = await shards.readShard(shard, signal);
    if (!read.ok) return this.#failed("schedules", read.error);
    const removed =
      read.value === undefined
        ? ok([])
        : await removeRetired(read.value, this.#settings, this.#ports, { now: this.#now(), signal });
    if (!removed.ok) return this.#failed("schedules", removed.error);
    this.#steps.push({ step: "schedules", outcome: removed.value.length > 0 ? "done" : "unchanged" });
    const gone = await memberships.removeMembership(this.#key, { phase: ["left"] }, signal);
    if (!gone.ok) return this.#failed("table", gone.error);
    this.#steps.push({ step: "table", outcome: gone.value.kind === "removed" ? "done" : "unchanged" });
    return ok(undefined);
  }

  /** Notes why it is not done, and when it is tried again. */
  async #putOff(membership: Membership, faults: readonly LeaveFault[]): Step<void> {
    const now = this.#now();
    const problem = cutText(faults.map(({ message }) => message).join("; "));
    const attempts = (membership.leave?.attempts ?? 0) + 1;
    const cause = faults.find((fault) => fault.cause !== undefined)?.cause;
    const { force = false, startedAt = now } = membership.leave ?? {};
    const change = {
      leave: {
        force,
        startedAt,
        attempts,
        nextAttemptAt: now + backoffMs(BACKOFF, attempts, this.#ports.random),
        problem,
      },
      summary: { state: "Leaving", since: now, ...(cause === undefined ? {} : { cause }) },
      ...(problem === membership.leave?.problem ? {} : { event: this.#event("LeaveDelayed", problem, cause) }),
    } as const;
    // What cannot be noted is tried again at once, that is all.
    await this.#ports.memberships.updateMembership(this.#key, change, { phase: ["leaving"] }, this.#hold.signal);
    return failed({ message: problem });
  }

  #event(kind: string, message: string, cause?: Cause) {
    const { protocol } = this.#key;
    return { at: this.#now(), protocol, kind, message, ...(cause === undefined ? {} : { cause }) };
  }

  #failed(step: LeaveStep, fault: LeaveFault): { readonly ok: false; readonly error: LeaveFault } {
    this.#steps.push({ step, outcome: "failed", message: fault.message });
    return failed(fault);
  }

  #notDone({ message }: StepFault, underWay: boolean): LeaveAnswer {
    const errors = [{ path: "", problem: message, remedy: underWay ? AGAIN : "Try again." }];
    return { ok: false, errors, underWay, steps: this.#steps };
  }

  #now(): number {
    return this.#ports.clock.now().getTime();
  }
}

const CHANGED: LeaveFault = { message: "the membership has changed meanwhile" };
const LOST: LeaveFault = { message: "this leave took too long, and another may be at work for the cluster" };

function isGoing({ phase }: Membership): boolean {
  return phase === "leaving" || phase === "left";
}

function hubOf({ leader }: Membership): string {
  return leader === undefined ? "its leader" : `leader ${leader.clusterID} (${leader.server})`;
}

function leftMessage(membership: Membership, orphans: readonly string[]): string {
  const rest = orphans.length === 0 ? "" : ` What could not be reached stays behind: ${orphans.join("; ")}.`;
  return `Left ${hubOf(membership)}.${rest}`;
}
