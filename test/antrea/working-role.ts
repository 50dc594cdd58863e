import { type AnnounceTiming, DEFAULT_ANNOUNCE_TIMING } from "../../lib/antrea/announce-deps.ts";
import { announceRole } from "../../lib/antrea/announce-role.ts";
import type { AnnounceStore, AnnounceTelemetry } from "../../lib/antrea/ports.ts";
import type { Hold } from "../../lib/relay/ports.ts";
import { seededRandom } from "../support/seeded-random.ts";
import type { AntreaWorld } from "./antrea-world.ts";
import { MemoryStore } from "./memory-store.ts";
import { membershipOf, never } from "./role-harness.ts";

type Round = Parameters<Hold["reportRound"]>[0];

/** The role announce at work on members over HTTPS, driven by the world's clock. */
export interface WorkingRole {
  readonly store: MemoryStore;
  readonly rounds: readonly Round[];
  readonly bugs: readonly unknown[];
  /** Outcomes of a member's beats, in order. */
  beats(cluster: string): readonly string[];
  end(): Promise<void>;
}

/** Takes the memberships up and begins to beat. */
export async function startWorkingRole(
  world: AntreaWorld,
  clusters: readonly string[],
  more: {
    readonly timing?: Partial<AnnounceTiming>;
    readonly telemetry?: AnnounceTelemetry;
    /** Instead of the one in memory; it has the memberships already. */
    readonly table?: AnnounceStore;
  } = {},
): Promise<WorkingRole> {
  const store = new MemoryStore();
  const rounds: Round[] = [];
  const bugs: unknown[] = [];
  const beats: { readonly cluster: string; readonly outcome: string }[] = [];
  const role = announceRole(
    "s",
    {
      clock: world.clock,
      random: seededRandom(1),
      store: more.table ?? store,
      connector: world.connector,
      telemetry: {
        beat: (of) => {
          beats.push(of);
          more.telemetry?.beat(of);
        },
        transition: (message, facts) => more.telemetry?.transition(message, facts),
        bug: (error, cluster) => {
          bugs.push(error);
          more.telemetry?.bug(error, cluster);
        },
      },
      mayCreate: async () => true,
      keepLeader: async () => true,
      readKeptLeader: async () => undefined,
    },
    { ...DEFAULT_ANNOUNCE_TIMING, ...more.timing },
  );
  for (const cluster of clusters) store.add(membershipOf(cluster));
  const prepared = await role.prepare(store.revision, never);
  if (!prepared.ok) throw new Error(prepared.error.message);
  const ended = new AbortController();
  const working = role.work({
    fence: 1,
    holder: "w",
    previousRoundAt: undefined,
    signal: ended.signal,
    mayWrite: () => true,
    predecessorStopped: () => true,
    mayRepeat: () => true,
    reportRound: (round) => void rounds.push(round),
  });
  return {
    store,
    rounds,
    bugs,
    beats: (cluster) => beats.filter((of) => of.cluster === cluster).map(({ outcome }) => outcome),
    end: async () => {
      ended.abort();
      await working;
      await role.close();
    },
  };
}
