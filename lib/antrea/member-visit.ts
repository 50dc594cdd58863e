import pLimit, { type LimitFunction } from "p-limit";
import { type Clock, deadline } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { CallOptions } from "../kube/client.ts";
import type { Membership } from "../state/membership.ts";
import { type Fault, memberFault, userFault } from "./fault.ts";
import type { ClusterConnector, MemberCluster } from "./ports.ts";

/** Members that are spoken to at a time: 64 in all, a quarter of them kept for those that are slow. */
const QUICK_PLACES = 48;
const SLOW_PLACES = 16;

/** A visit that takes longer than this, in milliseconds, is one to a slow member. */
const QUICK_MS = 3_000;

/** What one attempt came to; `late`: its time was up. */
interface Attempt<T> {
  readonly result: Result<T, Fault>;
  readonly late: boolean;
}

/**
 * Goes to a member, does one thing there and closes the connection: a bounded number at a time, each within its own time
 * limit. A visit that is not over after 3 s is broken off and made again among the slow ones, which have places of their
 * own: members that hang wait for each other, and members that answer never wait for them.
 */
export class MemberVisits {
  readonly #clock: Clock;
  readonly #connector: Pick<ClusterConnector, "connectMember">;
  readonly #timeoutMs: number;
  readonly #quick: LimitFunction = pLimit(QUICK_PLACES);
  readonly #slow: LimitFunction = pLimit(SLOW_PLACES);
  /** Clusters whose last visit did not end in time. */
  readonly #late = new Set<string>();

  /** @param timeoutMs one visit to a slow member, connection included */
  constructor(clock: Clock, connector: Pick<ClusterConnector, "connectMember">, timeoutMs: number) {
    this.#clock = clock;
    this.#connector = connector;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * A failure is one of the way to the member; what the visit itself meets is the visit's to tell.
   * @param what may be called twice: again after a first call that was broken off
   */
  async visit<T>(
    membership: Pick<Membership, "cluster" | "access">,
    signal: AbortSignal,
    what: (member: MemberCluster, options: CallOptions) => Promise<T>,
  ): Promise<Result<T, Fault>> {
    const { cluster } = membership;
    if (!this.#late.has(cluster)) {
      const quickMs = Math.min(QUICK_MS, this.#timeoutMs);
      const { result, late } = await inTurn(this.#quick, signal, () => this.#go(membership, quickMs, signal, what));
      if (!late) return result;
      this.#late.add(cluster);
    }
    const { result, late } = await inTurn(this.#slow, signal, () =>
      this.#go(membership, this.#timeoutMs, signal, what),
    );
    if (!late) this.#late.delete(cluster);
    return result;
  }

  async #go<T>(
    membership: Pick<Membership, "cluster" | "access">,
    timeoutMs: number,
    signal: AbortSignal,
    what: (member: MemberCluster, options: CallOptions) => Promise<T>,
  ): Promise<Attempt<T>> {
    using limit = deadline(this.#clock, timeoutMs, signal);
    const result = await this.#visit(membership, { timeoutMs, signal: limit.signal }, limit.signal, what);
    return { result, late: limit.expired() };
  }

  async #visit<T>(
    membership: Pick<Membership, "cluster" | "access">,
    options: CallOptions,
    signal: AbortSignal,
    what: (member: MemberCluster, options: CallOptions) => Promise<T>,
  ): Promise<Result<T, Fault>> {
    const member = await this.#connector.connectMember(membership, signal);
    if (!member.ok) return failed("kind" in member.error ? memberFault(member.error) : userFault(member.error));
    try {
      return ok(await what(member.value, options));
    } finally {
      await member.value.close();
    }
  }
}

/** Nobody is waiting for the outcome any more. */
const GIVEN_UP = {
  result: failed<Fault>({ cause: "TimedOut", message: "the visit was given up before its turn had come" }),
  late: false,
} as const;

/** Does something when there is a place for it. Who is told to end while still waiting does so at once. */
async function inTurn<T>(
  places: LimitFunction,
  signal: AbortSignal,
  what: () => Promise<Attempt<T>>,
): Promise<Attempt<T>> {
  const turn = Promise.withResolvers<"come" | "ended">();
  const end = (): void => turn.resolve("ended");
  if (signal.aborted) return GIVEN_UP;
  signal.addEventListener("abort", end, { once: true });
  const done = places(async () => {
    turn.resolve("come");
    return signal.aborted ? GIVEN_UP : await what();
  });
  const came = await turn.promise;
  signal.removeEventListener("abort", end);
  // The place itself is passed on when it comes; nothing is done with it.
  return came === "come" ? await done : GIVEN_UP;
}
