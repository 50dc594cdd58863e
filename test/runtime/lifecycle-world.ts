import type { Clock } from "../../lib/base/clock.ts";
import type { Random } from "../../lib/base/random.ts";
import { failed, ok, type Result } from "../../lib/base/result.ts";
import { isFree } from "../../lib/relay/baton.ts";
import { runShort } from "../../lib/relay/short-run.ts";
import { DEFAULT_TIMING } from "../../lib/relay/timing.ts";
import { type JoinAnswer, join } from "../../lib/runtime/join.ts";
import type { JoinPorts, Preflight } from "../../lib/runtime/join-ports.ts";
import { leave } from "../../lib/runtime/leave.ts";
import type { LeaveAnswer } from "../../lib/runtime/leave-answer.ts";
import type { LeavePorts, PartFault } from "../../lib/runtime/leave-ports.ts";
import { type SweepPorts, type SweepReport, sweep } from "../../lib/runtime/sweep.ts";
import type { PlannedSchedule } from "../../lib/schedule/plan.ts";
import type { State } from "../../lib/state/state.ts";
import { specOf } from "../state/membership-samples.ts";
import { must, never } from "../state/test-table.ts";

export const SETTINGS = {
  stage: "dev",
  group: "hawser-dev",
  functionArnPrefix: "arn:aws:lambda:eu-west-1:123456789012:function:hawser-dev-",
  roleArn: "arn:aws:iam::123456789012:role/scheduler",
  deadLetterArn: "arn:aws:sqs:eu-west-1:123456789012:dead-letters",
  roles: ["announce"],
};

/** The process is gone: what it was doing is never heard of again. */
export class Killed extends Error {}

/** One process: it is killed before (even) or after (odd) the effect of a call outside the table. */
export interface Victim {
  /** 2 * call + 0 or 1; absent: it lives. */
  readonly killAt?: number;
}

/** Does something outside this process, if it still lives. */
type Effect = <T>(work: () => Promise<T> | T) => Promise<T>;

/** What joins, leaves and sweeps meet beside the table: members, hubs, kept credentials, schedules. */
export class LifecycleWorld {
  readonly announced = new Set<string>();
  readonly imported = new Set<string>();
  readonly kept = new Set<string>();
  readonly schedules = new Map<string, PlannedSchedule>();
  readonly invoked: string[] = [];
  memberFault: string | undefined;
  hubFault: string | undefined;
  /** Called between any two effects, so that a test can let others come in between. */
  between: () => Promise<void> = async () => undefined;
  effects = 0;
  readonly #state: State;
  readonly #clock: Clock;
  readonly #random: Random;

  constructor(state: State, clock: Clock, random: Random) {
    this.#state = state;
    this.#clock = clock;
    this.#random = random;
  }

  async join(cluster: string, networkProfile: string, victim: Victim = {}): Promise<JoinAnswer> {
    const spec = specOf(cluster, { networkProfile });
    const ports = this.#joinPorts(victim);
    return await this.#alone(
      cluster,
      async (hold) => await join(spec, { ...SETTINGS, createdBy: "test" }, ports, hold),
    );
  }

  async leave(cluster: string, more: { force?: boolean; begin?: boolean } & Victim = {}): Promise<LeaveAnswer> {
    const { force = false, begin = true, ...victim } = more;
    const settings = { ...SETTINGS, begin, force, stopMs: 0 };
    const key = { cluster, protocol: "antrea" } as const;
    const ports = this.#leavePorts(victim);
    return await this.#alone(cluster, async (hold) => await leave(key, settings, ports, hold));
  }

  async sweep(victim: Victim = {}): Promise<SweepReport> {
    const hold = { signal: never, mayWrite: () => true };
    const leaving = this.#leavePorts(victim);
    const ports: SweepPorts = {
      ...leaving,
      shards: this.#state,
      memberships: this.#state,
      leaveOn: async ({ cluster }) => {
        try {
          const left = await this.leave(cluster, { begin: false, ...victim });
          return left.ok ? "left" : { message: left.errors.map(({ problem }) => problem).join() };
        } catch (error) {
          if (error instanceof Busy) return "busy";
          throw error;
        }
      },
    };
    return must(await sweep(SETTINGS, ports, hold));
  }

  /** Under the cluster's baton, as the functions do. A killed process gives nothing back: here its baton is over at once. */
  async #alone<T>(
    cluster: string,
    work: (hold: { signal: AbortSignal; mayWrite: () => boolean }) => Promise<T>,
  ): Promise<T> {
    const key = { role: "lifecycle", scope: `${cluster}#antrea` };
    const ids = { uuid: () => crypto.randomUUID() };
    const options = { key, store: this.#state.batons, clock: this.#clock, ids, deployedAt: 1, signal: never };
    const run = await runShort(options, work);
    if (run.kind !== "worked") throw new Busy(run.kind);
    return run.value;
  }

  #effect({ killAt = Number.POSITIVE_INFINITY }: Victim): Effect {
    let point = -1;
    const step = async (): Promise<void> => {
      point += 1;
      if (point === killAt) throw new Killed();
      await this.between();
    };
    return async (work) => {
      await step();
      this.effects += 1;
      const result = await work();
      await step();
      return result;
    };
  }

  #schedulePorts(effect: Effect): Pick<JoinPorts, "shards" | "scheduler"> {
    return {
      shards: {
        readShard: async (...args) => await this.#state.readShard(...args),
        forgetRetired: async (...args) => await effect(() => this.#state.forgetRetired(...args)),
      },
      scheduler: {
        ensure: async (planned) =>
          await effect(() => {
            const outcome = this.schedules.has(planned.name) ? ("unchanged" as const) : ("created" as const);
            this.schedules.set(planned.name, planned);
            return ok({ outcome, paused: false });
          }),
        remove: async ({ name }) => await effect(() => ok(this.schedules.delete(name) ? "removed" : "absent")),
      },
    };
  }

  #joinPorts(victim: Victim): JoinPorts {
    const effect = this.#effect(victim);
    const preflight = (cluster: string): Preflight => ({
      clusterUID: `uid-${cluster}`,
      keep: async () =>
        await effect(() => {
          this.kept.add(cluster);
          const note = { keptLeaderHash: "hash", leader: { clusterID: "north", server: "https://north" } };
          return ok({ outcome: "updated", note } as const);
        }),
      announce: async () =>
        await effect(() => {
          this.announced.add(cluster);
          return ok({ outcome: "created" } as const);
        }),
    });
    return {
      ...this.#schedulePorts(effect),
      protocol: { preflight: async ({ cluster }) => ok(preflight(cluster)) },
      memberships: {
        createMembership: async (...args) => await effect(() => this.#state.createMembership(...args)),
        updateMembership: async (...args) => await effect(() => this.#state.updateMembership(...args)),
      },
      isWorked: async () => ok(false),
      invoke: async ({ shard }) =>
        await effect(() => {
          this.invoked.push(shard);
          return ok(undefined);
        }),
    };
  }

  #leavePorts(victim: Victim): LeavePorts {
    const effect = this.#effect(victim);
    const part = (
      set: Set<string>,
      cluster: string,
      fault: string | undefined,
    ): Result<{ outcome: "done" | "unchanged" }, PartFault> =>
      fault === undefined
        ? ok({ outcome: set.delete(cluster) ? "done" : "unchanged" })
        : failed({ message: fault, cause: "APIServerUnreachable", orphan: `what ${cluster} has there` });
    return {
      ...this.#schedulePorts(effect),
      clock: this.#clock,
      random: this.#random,
      protocol: {
        cleanMember: async ({ cluster }) => await effect(() => part(this.imported, cluster, this.memberFault)),
        leaveHub: async ({ cluster }) => await effect(() => part(this.announced, cluster, this.hubFault)),
        forget: async ({ cluster }) =>
          await effect(() => {
            this.kept.delete(cluster);
            return ok(undefined);
          }),
      },
      memberships: {
        readMembership: async (...args) => await this.#state.readMembership(...args),
        updateMembership: async (...args) => await effect(() => this.#state.updateMembership(...args)),
        detachMembership: async (...args) => await effect(() => this.#state.detachMembership(...args)),
        removeMembership: async (...args) => await effect(() => this.#state.removeMembership(...args)),
      },
      hasSeen: async (shard, revision, signal) => {
        const baton = await this.#state.batons.read({ role: "announce", scope: shard }, signal);
        if (!baton.ok) return baton;
        const free = baton.value === undefined || isFree(baton.value, this.#clock.now().getTime(), DEFAULT_TIMING);
        return ok(free || (baton.value?.seenRevision ?? 0) >= revision);
      },
    };
  }
}

/** Another is at work for the cluster. */
export class Busy extends Error {}
