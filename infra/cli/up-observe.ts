import type { Clock } from "../../lib/base/clock.ts";
import { gridOffsetMs, gridPointAtOrBefore } from "../../lib/base/grid.ts";
import { type FleetView, type MembershipView, readFleet } from "../../lib/status/fleet.ts";
import { readImports } from "../../lib/status/imports.ts";
import type { ImportReader, StatusReader } from "../../lib/status/ports.ts";
import { BEAT_INTERVAL_MS, judgeBeats } from "../local/world/beat-statistics.ts";
import type { MembershipSummary } from "../local/world/events.ts";
import type { World, WorldMember } from "../local/world/world.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { statusReader } from "./status-reader.ts";
import { localTarget } from "./target.ts";
import type { BeatColumns, Display } from "./up-display.ts";

/** How often the table is read and shown, in milliseconds. */
const LOOK_INTERVAL_MS = 1_000;

/** How long the first beats may take before the count begins without them, in milliseconds. */
const JOIN_LIMIT_MS = 120_000;

interface Observation {
  readonly world: World;
  readonly display: Display;
  readonly clock: Clock;
  readonly forMs: number | undefined;
  readonly signal: AbortSignal;
}

/** Joins the world's members, shows what happens until the time is up or the user ends it, and tells the summary. */
export async function observe(o: Observation): Promise<ExitCode> {
  const reader = statusReader(localTarget(o.world.target), o.clock);
  const watcher = new Watcher(o, reader);
  const joined = await Promise.all(
    o.world.members.map(async (member) => ((await o.world.join(member)) ? [member] : [])),
  );
  const began = await watcher.untilBeating(joined.flat());
  await watcher.until(o.forMs === undefined ? Number.POSITIVE_INFINITY : began + o.forMs);
  const memberships = watcher.summary(began, o.clock.now().getTime());
  o.display.event({ event: "summary", memberships });
  return o.signal.aborted || memberships.every((m) => m.connected) ? EXIT.ok : EXIT.degraded;
}

class Watcher {
  readonly #o: Observation;
  readonly #reader: StatusReader & ImportReader;
  readonly #startedAt: number;
  readonly #told = new Map<string, string>();
  #fleet: FleetView = { at: "", memberships: [] };

  constructor(o: Observation, reader: StatusReader & ImportReader) {
    this.#o = o;
    this.#reader = reader;
    this.#startedAt = o.clock.now().getTime();
  }

  /** Waits for the first beat of every one that has joined, a bounded time; answers when the count begins. */
  async untilBeating(members: readonly WorldMember[]): Promise<number> {
    const limit = this.#startedAt + JOIN_LIMIT_MS;
    const { world, clock, signal } = this.#o;
    const all = (): boolean => members.every((m) => world.beats.of(m.announce).length > 0);
    while (!signal.aborted && !all() && clock.now().getTime() < limit) await this.#look();
    return clock.now().getTime();
  }

  /** Looks each second until the moment or the signal. */
  async until(end: number): Promise<void> {
    const { clock, signal } = this.#o;
    while (!signal.aborted && clock.now().getTime() < end) await this.#look(end - clock.now().getTime());
  }

  /** One line per membership. */
  summary(from: number, to: number): MembershipSummary[] {
    return this.#o.world.members.map((member) => {
      const view = this.#fleet.memberships.find((m) => m.cluster === member.cluster);
      return {
        cluster: member.cluster,
        protocol: "antrea",
        connected: this.#o.world.isConnected(member),
        ...judgeBeats(member.cluster, this.#o.world.beats.of(member.announce), from, to),
        conditions: view?.conditions ?? [],
      };
    });
  }

  async #look(atMostMs: number = LOOK_INTERVAL_MS): Promise<void> {
    const { world, display, clock, signal } = this.#o;
    const reading = AbortSignal.any([signal, AbortSignal.timeout(5_000)]);
    const fleet = await readFleet(this.#reader, clock, reading);
    if (fleet.ok) {
      this.#fleet = fleet.value;
      for (const membership of fleet.value.memberships) this.#tell(membership);
      for (const { cluster } of fleet.value.memberships) await this.#tellImports(cluster, reading);
    }
    const now = clock.now().getTime();
    display.fleet(this.#fleet, new Map(world.members.map((m) => [m.cluster, this.#columns(m, now)])), now);
    await clock.sleep(Math.min(LOOK_INTERVAL_MS, atMostMs), signal);
  }

  #columns(member: WorldMember, now: number): BeatColumns {
    const beats = this.#o.world.beats.of(member.announce);
    const lastAt = beats.at(-1);
    const offset = gridOffsetMs(member.cluster, BEAT_INTERVAL_MS);
    return {
      ...judgeBeats(member.cluster, beats, beats[0] ?? now, now),
      lastAt,
      lastLatenessMs: lastAt === undefined ? undefined : lastAt - gridPointAtOrBefore(lastAt, offset, BEAT_INTERVAL_MS),
    };
  }

  /** Tells of windows and conditions that are new since the last look. */
  #tell(membership: MembershipView): void {
    const at = this.#o.clock.now().toISOString();
    const { window, cluster, shard } = membership;
    if (
      window !== undefined &&
      this.#isNew(`window ${window.role} ${shard}`, `${window.holder} ${window.fence} ${window.yielding}`)
    ) {
      const { role, holder, fence, yielding } = window;
      this.#o.display.event({ event: "window", at, role, shard, holder, fence, yielding });
    }
    for (const { type, status, reason, message } of membership.conditions) {
      if (!this.#isNew(`condition ${cluster} ${type}`, `${status} ${reason}`)) continue;
      this.#o.display.event({ event: "condition", at, cluster, type, status, reason, message });
    }
  }

  /** Tells of imports that have come to another state since the last look. */
  async #tellImports(cluster: string, signal: AbortSignal): Promise<void> {
    const imports = await readImports(this.#reader, cluster, signal);
    const at = this.#o.clock.now().toISOString();
    for (const { name, kind, target, state, error } of imports.ok ? imports.value : []) {
      if (!this.#isNew(`import ${cluster} ${name}`, state)) continue;
      const why = error === undefined ? {} : { error };
      this.#o.display.event({ event: "import", at, cluster, name, kind, target, state, ...why });
    }
  }

  #isNew(what: string, value: string): boolean {
    if (this.#told.get(what) === value) return false;
    this.#told.set(what, value);
    return true;
  }
}
