import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { ShortHold } from "../relay/short-run.ts";
import type { Membership, MembershipSpec } from "../state/membership.ts";
import type { MembershipRefusal } from "../state/membership-change.ts";
import type { JoinPorts, KeptHub, Preflight, StepFault } from "./join-ports.ts";
import { keepSchedules, type ShardScheduleSettings } from "./shard-schedules.ts";
import { startRole } from "./shard-start.ts";

/** What a join does, in this order. Each step may be repeated; a join that was cut off goes on where it stood. */
export type JoinStep = "identify" | "membership" | "keep" | "announce" | "schedules" | "start" | "complete";

/** One step, and what it did. `unchanged`: there was nothing to do. */
export interface StepReport {
  readonly step: JoinStep;
  readonly outcome: "created" | "updated" | "unchanged" | "done" | "waiting" | "failed";
  /** What a person should know about it. */
  readonly message?: string;
}

/** What a join answers: always the steps, and either the membership or what is in the way. */
export type JoinAnswer =
  | {
      readonly ok: true;
      readonly cluster: string;
      readonly protocol: string;
      readonly shard: string;
      /** False when there was nothing to do. */
      readonly changed: boolean;
      readonly steps: readonly StepReport[];
    }
  | {
      readonly ok: false;
      readonly errors: readonly UserError[];
      readonly steps: readonly StepReport[];
    };

/** Where schedules are, which roles they are for, and who joins. */
export interface JoinSettings extends ShardScheduleSettings {
  /** Who asks, for the record. */
  readonly createdBy: string;
}

const RETRY = "Mend it and join again: what was done so far is kept.";

const LOST: StepFault = { message: "this join took too long, and another may be at work for the cluster" };

const REFUSALS: Readonly<Record<MembershipRefusal, Omit<UserError, "path">>> = {
  SameCluster: {
    problem: "this cluster has joined already, under another name",
    remedy: "Use that name, or leave it first: hawser leave NAME.",
  },
  OtherCluster: {
    problem: "this name belongs to another cluster: the UID of its kube-system Namespace is a different one",
    remedy: "Choose another name, or leave with the old cluster first.",
  },
  Leaving: { problem: "this cluster is being left", remedy: "Wait until it has left, then join again." },
  NotAsExpected: { problem: "the membership has changed meanwhile", remedy: RETRY },
};

/**
 * Joins a cluster to its hub. Idempotent and resumable: after a kill between any two steps the same call again reaches
 * the same end, and once all is done it finds nothing to do.
 *
 * What it takes to leave is kept before the first announce is made: nothing is made that could not be taken back. A hub
 * that is kept already is replaced only once the new one has taken an announce.
 *
 * An announce that fails does not end the join: the membership is written, so the role repeats the announce every
 * interval from now on. The answer still tells of it, and the membership stays `joining` until a join gets through or
 * the role has connected.
 *
 * @param hold of the cluster's lifecycle: no other join or leave of this cluster is at work
 */
export async function join(
  spec: MembershipSpec,
  settings: JoinSettings,
  ports: JoinPorts,
  hold: Pick<ShortHold, "signal" | "mayWrite">,
): Promise<JoinAnswer> {
  const run = new JoinRun(spec, settings, ports, hold);
  return await run.answer();
}

type Step<T> = Promise<Result<T, readonly UserError[]>>;

interface Recorded {
  readonly membership: Membership;
  readonly preflight: Preflight;
  /** Something of it was written just now. */
  readonly isNew: boolean;
}

class JoinRun {
  readonly #spec: MembershipSpec;
  readonly #settings: JoinSettings;
  readonly #ports: JoinPorts;
  readonly #hold: Pick<ShortHold, "signal" | "mayWrite">;
  readonly #signal: AbortSignal;
  readonly #steps: StepReport[] = [];
  #note: KeptHub["note"] = {};

  constructor(
    spec: MembershipSpec,
    settings: JoinSettings,
    ports: JoinPorts,
    hold: Pick<ShortHold, "signal" | "mayWrite">,
  ) {
    this.#spec = spec;
    this.#settings = settings;
    this.#ports = ports;
    this.#hold = hold;
    this.#signal = hold.signal;
  }

  async answer(): Promise<JoinAnswer> {
    const recorded = await this.#record();
    if (!recorded.ok) return { ok: false, errors: recorded.error, steps: this.#steps };
    const { membership } = recorded.value;
    const { shard } = membership;
    const announced = await this.#announce(recorded.value);
    const scheduled = await this.#schedule(shard);
    const started = scheduled.ok ? await this.#start(shard, scheduled.value) : ok(undefined);
    const errors = [announced, scheduled, started].flatMap((step) => (step.ok ? [] : step.error));
    const completed = errors.length === 0 ? await this.#complete(membership) : failed(errors);
    if (!completed.ok) return { ok: false, errors: completed.error, steps: this.#steps };
    const { cluster, protocol } = this.#spec;
    const changed = this.#steps.some(({ step, outcome }) => step !== "identify" && outcome !== "unchanged");
    return { ok: true, cluster, protocol, shard, changed, steps: this.#steps };
  }

  /** Who the cluster is, and the membership in the table: nothing is written for a cluster that cannot be asked. */
  async #record(): Step<Recorded> {
    const preflight = await this.#ports.protocol.preflight(this.#spec, this.#signal);
    if (!preflight.ok) return this.#failed("identify", "access", preflight.error);
    this.#steps.push({ step: "identify", outcome: "done" });
    const { clusterUID } = preflight.value;
    const request = { spec: this.#spec, createdBy: this.#settings.createdBy, clusterUID };
    const created = await this.#ports.memberships.createMembership(request, this.#signal);
    if (!created.ok) return this.#failed("membership", "", created.error);
    if (created.value.kind === "refused") {
      const { because, heldBy } = created.value;
      const { problem, remedy } = REFUSALS[because];
      const other = heldBy === undefined ? "" : `: ${heldBy}`;
      return this.#failed("membership", "cluster", { path: "cluster", problem: problem + other, remedy });
    }
    this.#steps.push({ step: "membership", outcome: created.value.kind });
    const isNew = created.value.kind !== "unchanged";
    return ok({ membership: created.value.membership, preflight: preflight.value, isNew });
  }

  /** The first beat. A membership that has joined and did not change is beaten for by its role. */
  async #announce(recorded: Recorded): Step<void> {
    const { membership, preflight, isNew } = recorded;
    if (!isNew && membership.phase === "joined") {
      this.#steps.push({ step: "announce", outcome: "unchanged" });
      return ok(undefined);
    }
    const first = membership.keptLeaderHash === undefined;
    if (first) {
      const kept = await this.#keep(recorded);
      if (!kept.ok) return kept;
    }
    if (!this.#hold.mayWrite()) return this.#failed("announce", "", LOST);
    const announced = await preflight.announce(this.#signal);
    if (!announced.ok) return this.#failed("announce", "", announced.error);
    this.#steps.push({ step: "announce", ...announced.value });
    return first || announced.value.outcome === "waiting" ? ok(undefined) : await this.#keep(recorded);
  }

  async #keep({ membership, preflight }: Recorded): Step<void> {
    if (!this.#hold.mayWrite()) return this.#failed("keep", "", LOST);
    const kept = await preflight.keep(membership, this.#signal);
    if (!kept.ok) return this.#failed("keep", "", kept.error);
    if (kept.value === undefined) return ok(undefined);
    this.#note = kept.value.note;
    this.#steps.push({ step: "keep", outcome: kept.value.outcome });
    return ok(undefined);
  }

  /** Answers with the roles that a person has paused by disabling their schedule. */
  async #schedule(shard: string): Step<readonly string[]> {
    const kept = await keepSchedules(shard, this.#settings, this.#ports, this.#signal);
    if (!kept.ok) return this.#failed("schedules", "", kept.error);
    for (const { name, outcome, paused } of kept.value) {
      const note = paused ? { message: `${name} is disabled, and stays so` } : {};
      this.#steps.push({ step: "schedules", outcome, ...note });
    }
    return ok(kept.value.filter(({ paused }) => paused).map(({ role }) => role));
  }

  /** What a person has paused is not started. */
  async #start(shard: string, paused: readonly string[]): Step<void> {
    for (const role of this.#settings.roles) {
      if (paused.includes(role)) {
        this.#steps.push({ step: "start", outcome: "unchanged", message: `${role} is paused` });
        continue;
      }
      const started = await startRole({ role, shard }, this.#ports, this.#signal);
      if (!started.ok) return this.#failed("start", "", started.error);
      this.#steps.push({ step: "start", outcome: started.value });
    }
    return ok(undefined);
  }

  async #complete({ cluster, protocol }: Membership): Step<void> {
    const done = await this.#ports.memberships.updateMembership(
      { cluster, protocol },
      { phase: "joined", ...this.#note },
      { phase: ["joining", "joined"] },
      this.#signal,
    );
    if (!done.ok) return this.#failed("complete", "", done.error);
    if (done.value.kind === "absent" || done.value.kind === "refused") {
      return this.#failed("complete", "cluster", { path: "cluster", ...REFUSALS.Leaving });
    }
    this.#steps.push({ step: "complete", outcome: done.value.kind });
    return ok(undefined);
  }

  #failed(step: JoinStep, path: string, fault: StepFault | UserError): Result<never, readonly UserError[]> {
    const error = "problem" in fault ? fault : { path, problem: fault.message, remedy: RETRY };
    this.#steps.push({ step, outcome: "failed", message: error.problem });
    return failed([error]);
  }
}
