import { ok, type Result } from "../base/result.ts";
import type { Hold, RoleWork, StoreFailure } from "../relay/ports.ts";
import { type BeatTarget, Ticker } from "../relay/ticker.ts";
import type { Membership } from "../state/membership.ts";
import { beat } from "./announce-beat.ts";
import { type AnnounceDependencies, type AnnounceTiming, DEFAULT_ANNOUNCE_TIMING } from "./announce-deps.ts";
import { keepLeader, leaderIsOwed, noteDeparture } from "./announce-keep.ts";
import { disconnect, look } from "./announce-look.ts";
import { lookForRival } from "./announce-rival.ts";
import { describeRound } from "./announce-round.ts";
import { keepStatus, statusIsBehind } from "./announce-status.ts";
import { keepTable, tableIsBehind } from "./announce-table.ts";
import { withdraw, withdrawalIsDue } from "./announce-withdrawal.ts";
import { AnnouncedMembership, type JobKind, type LeaderLink, leadsToTheSame } from "./announced-membership.ts";
import type { ConnectivityObservation } from "./connectivity.ts";
import { MemberVisits } from "./member-visit.ts";

/**
 * The work of the relay role `announce` for one shard.
 *
 * The grid drives everything: at each of its points a membership beats, and whatever else is due for it (a look at
 * its member, the table, the ClusterSet's status) is started beside the beats, at most one of a kind at a time, each
 * within its own time limit. So a member, a leader or a table that hangs delays nothing but itself.
 */
export function announceRole(
  shard: string,
  deps: AnnounceDependencies,
  timing: AnnounceTiming = DEFAULT_ANNOUNCE_TIMING,
): RoleWork {
  return new AnnounceRole(shard, deps, timing);
}

class AnnounceRole implements RoleWork {
  readonly #shard: string;
  readonly #deps: AnnounceDependencies;
  readonly #timing: AnnounceTiming;
  readonly #visits: MemberVisits;
  readonly #members = new Map<string, AnnouncedMembership>();
  #hold: Hold | undefined;
  #ticker: Ticker<BeatTarget> | undefined;

  constructor(shard: string, deps: AnnounceDependencies, timing: AnnounceTiming) {
    this.#shard = shard;
    this.#deps = deps;
    this.#timing = timing;
    this.#visits = new MemberVisits(deps.clock, deps.connector, timing.visitTimeoutMs);
  }

  async prepare(_revision: number, signal: AbortSignal): Promise<Result<void, StoreFailure>> {
    const read = await this.#deps.store.readShardMemberships(this.#shard, signal);
    if (!read.ok) return read;
    const wanted = new Map(read.value.filter(isServed).map((membership) => [membership.cluster, membership]));
    const gone = [...this.#members.keys()].filter((cluster) => !wanted.has(cluster));
    // Awaited: once this revision counts as seen, no beat of a membership that is leaving may be under way.
    await Promise.all(gone.map(async (cluster) => await this.#drop(cluster)));
    for (const membership of wanted.values()) this.#take(membership);
    await Promise.all([...this.#members.values()].map(async (m) => await this.#restOrWake(m)));
    // At once, and again when the looks have shown which of them share a leader.
    this.#ticker?.setTargets(this.#targets());
    await this.#lookAtAll(signal);
    this.#ticker?.setTargets(this.#targets());
    return ok(undefined);
  }

  async work(hold: Hold): Promise<void> {
    for (const m of this.#members.values()) {
      m.forgetTable();
      // What was in the way when the window prepared may have been mended long since.
      if (m.link === undefined) m.readDueMs = Number.NEGATIVE_INFINITY;
      if (m.resting) m.observe({ kind: "paused" }, this.#deps.clock.now().getTime());
    }
    const stop = (): void => {
      for (const m of this.#members.values()) m.controller.abort();
    };
    hold.signal.addEventListener("abort", stop, { once: true });
    const ticker = this.#newTicker(hold);
    this.#hold = hold;
    this.#ticker = ticker;
    try {
      await ticker.run(hold.signal, hold.previousRoundAt);
    } finally {
      hold.signal.removeEventListener("abort", stop);
      stop();
      await Promise.all([...this.#members.values()].map(settled));
      this.#hold = undefined;
      this.#ticker = undefined;
      for (const m of this.#members.values()) m.controller = new AbortController();
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#members.keys()].map(async (cluster) => await this.#drop(cluster)));
  }

  /** A membership as it stands in the table now; what it refers to is read again when that has changed. */
  #take(membership: Membership): void {
    const known = this.#members.get(membership.cluster);
    if (known === undefined) {
      this.#members.set(membership.cluster, new AnnouncedMembership(membership));
      return;
    }
    if (!leadsToTheSame(known.membership, membership)) known.readDueMs = Number.NEGATIVE_INFINITY;
    known.connectedOnce ||= membership.connectedOnce;
    known.membership = membership;
  }

  /** A paused membership stays, so that its conditions say so; like one that leaves it has no beat under way any more. */
  async #restOrWake(m: AnnouncedMembership): Promise<void> {
    const paused = m.membership.paused === true;
    if (paused === m.resting) return;
    m.resting = paused;
    m.readDueMs = Number.NEGATIVE_INFINITY;
    if (!paused) return;
    m.controller.abort();
    await settled(m);
    await disconnect(m);
    m.controller = new AbortController();
    m.readFault = undefined;
    m.rival = undefined;
    m.observe({ kind: "paused" }, this.#deps.clock.now().getTime());
    this.#keep(m);
  }

  async #drop(cluster: string): Promise<void> {
    const m = this.#members.get(cluster);
    if (m === undefined) return;
    this.#members.delete(cluster);
    m.controller.abort();
    await settled(m);
    await disconnect(m);
  }

  /**
   * Waits for the members, but not for ever: those that take longer join the grid when they have answered. A window at
   * work waits for none: who joins or leaves must not wait for a member that hangs.
   */
  async #lookAtAll(signal: AbortSignal): Promise<void> {
    const looks = [...this.#members.values()].filter((m) => this.#lookIsDue(m)).map((m) => this.#look(m));
    if (looks.length === 0 || this.#hold !== undefined) return;
    const answered = new AbortController();
    const enough = AbortSignal.any([answered.signal, signal]);
    void Promise.all(looks).then(() => answered.abort());
    await this.#deps.clock.sleep(this.#timing.prepareMs, enough);
    answered.abort();
  }

  #newTicker(hold: Hold): Ticker<BeatTarget> {
    const ticker = new Ticker<BeatTarget>({
      clock: this.#deps.clock,
      intervalMs: this.#timing.intervalMs,
      concurrency: this.#timing.concurrency,
      beat: async ({ name }) => await this.#tick(name),
      onRound: (roundAt) => hold.reportRound({ roundAt, ...describeRound(this.#members.values()) }),
    });
    ticker.setTargets(this.#targets());
    return ticker;
  }

  /** A membership without a leader is a hub of its own: there is nothing to share. */
  #targets(): readonly BeatTarget[] {
    return [...this.#members].map(([name, { link }]) => ({ name, hub: link?.spec.server ?? name }));
  }

  async #tick(name: string): Promise<void> {
    const m = this.#members.get(name);
    if (m === undefined) return;
    await this.#beat(m);
    if (this.#lookIsDue(m)) void this.#look(m);
    this.#keep(m);
  }

  async #beat(m: AnnouncedMembership): Promise<void> {
    const hold = this.#hold;
    const { link } = m;
    if (hold === undefined || link === undefined || m.resting || !hold.mayRepeat()) return;
    if (this.#deps.clock.monotonicMs() < m.deferredUntilMs) {
      this.#deps.telemetry.beat({ cluster: m.membership.cluster, outcome: "withheld", ms: 0 });
      return;
    }
    let refused: ConnectivityObservation | undefined;
    await this.#job(m, "beat", async () => {
      if (this.#rivalIsDue(m, link)) await lookForRival(m, link, hold, this.#deps, this.#timing);
      if (m.link === link) refused = await beat(m, link, hold, this.#deps, this.#timing);
    });
    if (m.lastChanceMs !== undefined) void this.#job(m, "chance", async () => await this.#tryLastChance(m, link));
    // Beside the grid: a member that does not answer must not hold up the next beat.
    if (refused !== undefined) void this.#beatAgain(m, link, refused);
  }

  /** A leader that asked to be left alone is asked once more before it would call us disconnected: the grid may be too late. */
  async #tryLastChance(m: AnnouncedMembership, link: LeaderLink): Promise<void> {
    const { clock } = this.#deps;
    const waitMs = (m.lastChanceMs ?? 0) - clock.monotonicMs();
    await clock.sleep(Math.ceil(Math.max(0, waitMs)) + 1, m.controller.signal);
    if (m.lastChanceMs === undefined || m.link !== link || m.controller.signal.aborted) return;
    await this.#beat(m);
    this.#keep(m);
  }

  /** Only where our own stamp is known to stand: after a beat that was taken, on a grid point. */
  #rivalIsDue(m: AnnouncedMembership, { touchTs }: LeaderLink): boolean {
    return touchTs !== undefined && m.failing === undefined && this.#deps.clock.monotonicMs() >= m.rivalDueMs;
  }

  /** The credential was refused: what the member says of it is read again, and another one is tried within the same beat. */
  async #beatAgain(m: AnnouncedMembership, link: LeaderLink, refused: ConnectivityObservation): Promise<void> {
    await this.#look(m);
    if (m.link !== link || m.controller.signal.aborted) return;
    m.observe(refused, this.#deps.clock.now().getTime());
    this.#keep(m);
  }

  #lookIsDue(m: AnnouncedMembership): boolean {
    return !m.resting && this.#deps.clock.monotonicMs() >= m.readDueMs;
  }

  async #look(m: AnnouncedMembership): Promise<void> {
    await this.#job(m, "look", async () => {
      const isNew = await look(m, this.#visits, this.#deps, this.#timing);
      if (isNew) {
        this.#ticker?.setTargets(this.#targets());
        // Where the conditions start over they are seen to: what follows is a transition from there.
        this.#keep(m);
        await this.#withdraw(m);
        // As a new connection of the in-cluster agent does; the grid goes on from its next point.
        await this.#beat(m);
      }
      this.#keep(m);
    });
  }

  /** Before the first beat of another identity, so that it does not find the announce of the old one. */
  async #withdraw(m: AnnouncedMembership): Promise<void> {
    const hold = this.#hold;
    if (hold === undefined || !withdrawalIsDue(m, this.#deps.clock.monotonicMs())) return;
    await this.#job(m, "withdraw", async () => await withdraw(m, hold, this.#deps, this.#timing));
  }

  /** Starts what the table and the member's ClusterSet still lack. */
  #keep(m: AnnouncedMembership): void {
    const hold = this.#hold;
    if (hold === undefined || m.controller.signal.aborted) return;
    const keepStatusToo = (): void => {
      if (!hold.mayWrite() || !statusIsBehind(m, this.#deps.clock.monotonicMs())) return;
      void this.#job(m, "status", async () => await keepStatus(m, hold, this.#visits, this.#deps, this.#timing));
    };
    if (tableIsBehind(m, this.#deps.clock.now().getTime())) {
      const first = m.published === undefined;
      void this.#job(m, "table", async () => await keepTable(m, hold, this.#deps)).then(
        () => first && m.published !== undefined && keepStatusToo(),
      );
    }
    keepStatusToo();
    if (leaderIsOwed(m)) void this.#job(m, "keep", async () => await keepLeader(m, hold, this.#deps));
    void this.#withdraw(m);
    if (m.departureOwed) void this.#job(m, "departure", async () => await noteDeparture(m, hold, this.#deps));
  }

  /** At most one of a kind at a time; never rejects, as a mistake of ours in one membership must not stop the others. */
  async #job(m: AnnouncedMembership, kind: JobKind, what: () => Promise<void>): Promise<void> {
    const running = m.jobs.get(kind);
    if (running !== undefined) {
      await running;
      return;
    }
    const job = what()
      .catch((error: unknown) => this.#deps.telemetry.bug(error, m.membership.cluster))
      .finally(() => m.jobs.delete(kind));
    m.jobs.set(kind, job);
    await job;
  }
}

function isServed({ protocol, phase }: Membership): boolean {
  return protocol === "antrea" && (phase === "joining" || phase === "joined");
}

async function settled(m: AnnouncedMembership): Promise<void> {
  while (m.jobs.size > 0) await Promise.all(m.jobs.values());
}
