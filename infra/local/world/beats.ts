import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient } from "../api-client/api-client.ts";
import { reflect } from "../api-client/reflector.ts";
import type { RequestLog } from "../cluster/front/request-log.ts";
import { paths, TOUCH_ANNOTATION } from "../leader/resources.ts";

/** A beat that a leader received: the announce it was for, and when it had succeeded (milliseconds since the epoch). */
export interface ReceivedBeat {
  readonly announce: string;
  readonly at: number;
}

/** Beats kept for one announce: more than an hour of them. */
const KEPT = 500;

/** What the leader's side saw, by announce. */
export class BeatLedger {
  readonly #byAnnounce = new Map<string, number[]>();
  readonly #listener: (beat: ReceivedBeat) => void;

  constructor(listener: (beat: ReceivedBeat) => void) {
    this.#listener = listener;
  }

  /** Takes one down. */
  add(beat: ReceivedBeat): void {
    const times = this.#byAnnounce.get(beat.announce) ?? [];
    times.push(beat.at);
    if (times.length > KEPT) times.shift();
    this.#byAnnounce.set(beat.announce, times);
    this.#listener(beat);
  }

  /** Times of the beats for one announce, oldest first. */
  of(announce: string): readonly number[] {
    return this.#byAnnounce.get(announce) ?? [];
  }
}

/**
 * Beats out of a simulated leader's request log; the answer ends the subscription.
 * @param announceOf which announce a user of the leader writes; undefined for users that are no members
 */
export function beatsFromRequestLog(
  log: RequestLog,
  namespace: string,
  announceOf: (user: string) => string | undefined,
  ledger: BeatLedger,
): () => void {
  return log.subscribe((entry) => {
    const write = entry.verb === "patch" || entry.verb === "create" || entry.verb === "update";
    if (entry.resource !== "memberclusterannounces" || entry.namespace !== namespace || !write) return;
    if (entry.status < 200 || entry.status > 299 || !entry.complete || entry.user === undefined) return;
    // A create has the name in its body alone, which no log keeps; the leader's rules tie it to the user.
    const announce = announceOf(entry.user);
    if (announce !== undefined) ledger.add({ announce, at: entry.atMs + entry.durationMs });
  });
}

/**
 * Beats seen at a real leader, which has no request log to read: each change of an announce's touch time is one.
 * Ends with `signal`.
 */
export async function beatsFromWatch(
  client: ApiClient,
  namespace: string,
  ledger: BeatLedger,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const last = new Map<string, string>();
  const began = clock.now().getTime();
  await reflect(
    client,
    paths.announces(namespace),
    {
      changed: (announce) => {
        const { name, annotations } = announce.metadata;
        const touched = annotations?.[TOUCH_ANNOTATION];
        if (touched === undefined || touched === last.get(name)) return Promise.resolve();
        last.set(name, touched);
        // What was touched before we looked is no beat that we saw; the time has a precision of a second.
        if (Date.parse(touched) >= began - 1_000) ledger.add({ announce: name, at: clock.now().getTime() });
        return Promise.resolve();
      },
      deleted: (announce) => {
        last.delete(announce.metadata.name);
        return Promise.resolve();
      },
    },
    clock,
    signal,
  );
}
