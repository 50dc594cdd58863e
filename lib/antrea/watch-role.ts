import { isDeepStrictEqual } from "node:util";
import { ok, type Result } from "../base/result.ts";
import type { Hold, RoleWork, RoundException, StoreFailure } from "../relay/ports.ts";
import type { Membership } from "../state/membership.ts";
import { MemberSync } from "./imports/member-sync.ts";
import { DEFAULT_WATCH_TIMING, type WatchDependencies, type WatchTiming } from "./imports/sync-ports.ts";
import { MemberVisits } from "./member-visit.ts";

/** How a window watches (DESIGN section 4). */
export type WindowMode =
  /** For as long as it holds the baton. */
  | { readonly kind: "continuous" }
  /** What has come, then `pollMs` milliseconds more, and it ends. */
  | { readonly kind: "windowed"; readonly pollMs: number };

/** What else the role is made with. */
export interface WatchRoleOptions {
  readonly mode?: WindowMode;
  readonly timing?: WatchTiming;
}

/** How often the baton is told who is not as it should be, in milliseconds. */
const REPORT_MS = 10_000;

/**
 * The work of the relay role `watch` for one shard: each member's imports are followed apart from all others', from the
 * first connection of the membership on, whether or not its announces succeed.
 */
export function watchRole(shard: string, deps: WatchDependencies, options: WatchRoleOptions = {}): RoleWork {
  return new WatchRole(shard, deps, options);
}

/** A member's sync under way. */
interface Running {
  readonly sync: MemberSync;
  readonly ending: AbortController;
  readonly ended: Promise<void>;
}

class WatchRole implements RoleWork {
  readonly #shard: string;
  readonly #deps: WatchDependencies;
  readonly #mode: WindowMode;
  readonly #timing: WatchTiming;
  readonly #visits: MemberVisits;
  readonly #running = new Map<string, Running>();
  #wanted = new Map<string, Membership>();
  #hold: Hold | undefined;

  constructor(shard: string, deps: WatchDependencies, { mode, timing }: WatchRoleOptions) {
    this.#shard = shard;
    this.#deps = deps;
    this.#mode = mode ?? { kind: "continuous" };
    this.#timing = timing ?? DEFAULT_WATCH_TIMING;
    this.#visits = new MemberVisits(deps.clock, deps.connector, this.#timing.callMs);
  }

  async prepare(_revision: number, signal: AbortSignal): Promise<Result<void, StoreFailure>> {
    const read = await this.#deps.store.readShardMemberships(this.#shard, signal);
    if (!read.ok) return read;
    this.#wanted = new Map(read.value.filter(isWatched).map((membership) => [membership.cluster, membership]));
    await this.#agree();
    return ok(undefined);
  }

  async work(hold: Hold): Promise<void> {
    this.#hold = hold;
    const ended = Promise.withResolvers<void>();
    const stop = (): void => ended.resolve();
    hold.signal.addEventListener("abort", stop, { once: true });
    if (hold.signal.aborted) stop();
    await this.#agree();
    if (this.#mode.kind === "windowed") {
      void Promise.all([...this.#running.values()].map((running) => running.ended)).then(stop);
    }
    const reporting = new AbortController();
    const reports = this.#report(hold, reporting.signal);
    await ended.promise;
    hold.signal.removeEventListener("abort", stop);
    this.#hold = undefined;
    reporting.abort("the window has ended");
    await Promise.all([reports, ...[...this.#running.keys()].map(async (cluster) => await this.#end(cluster))]);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map(async (cluster) => await this.#end(cluster)));
  }

  /** Whoever is to be watched is, as the table has it now; what is not is at its end when this resolves. */
  async #agree(): Promise<void> {
    const hold = this.#hold;
    if (hold === undefined) return;
    const outdated = [...this.#running].filter(([cluster, { sync }]) => {
      const wanted = this.#wanted.get(cluster);
      return wanted === undefined || !watchesTheSame(sync.membership, wanted);
    });
    await Promise.all(outdated.map(async ([cluster]) => await this.#end(cluster)));
    for (const [cluster, membership] of this.#wanted) {
      if (!this.#running.has(cluster)) this.#running.set(cluster, this.#start(membership, hold));
    }
  }

  #start(membership: Membership, hold: Hold): Running {
    const { telemetry } = this.#deps;
    const ending = new AbortController();
    const pollMs = this.#mode.kind === "windowed" ? this.#mode.pollMs : undefined;
    const sync = new MemberSync(membership, { deps: this.#deps, timing: this.#timing, visits: this.#visits, pollMs });
    const signal = AbortSignal.any([hold.signal, ending.signal]);
    const ended = sync.run(hold, signal).catch((error: unknown) => telemetry.bug(error, membership.cluster));
    return { sync, ending, ended };
  }

  async #end(cluster: string): Promise<void> {
    const running = this.#running.get(cluster);
    if (running === undefined) return;
    running.ending.abort("no longer watched");
    await running.ended;
    this.#running.delete(cluster);
  }

  async #report(hold: Hold, signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    while (!signal.aborted) {
      const now = clock.now().getTime();
      const exceptions: Record<string, RoundException> = {};
      for (const [cluster, { sync }] of this.#running) {
        const exception = sync.exception(now);
        if (exception !== undefined) exceptions[cluster] = exception;
      }
      hold.reportRound({ roundAt: now, exceptions, moreExceptions: 0 });
      await clock.sleep(REPORT_MS, signal);
    }
  }
}

/** From the first connection on; then whether it is connected does not matter any more. */
function isWatched({ protocol, phase, paused, connectedOnce }: Membership): boolean {
  return protocol === "antrea" && (phase === "joining" || phase === "joined") && paused !== true && connectedOnce;
}

/** True when what is under way for one is right for the other. */
function watchesTheSame(a: Membership, b: Membership): boolean {
  const relevant = ({ assignment, access, antrea, options }: Membership) => [assignment, access, antrea, options];
  return isDeepStrictEqual(relevant(a), relevant(b));
}
