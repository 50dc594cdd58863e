import pLimit, { type LimitFunction } from "p-limit";
import { type Clock, deadline } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { CallOptions } from "../kube/client.ts";
import type { Membership } from "../state/membership.ts";
import { type Fault, memberFault, userFault } from "./fault.ts";
import type { ClusterConnector, MemberCluster } from "./ports.ts";

/** Most members that are spoken to at a time; connections to members are closed after use. */
const MEMBER_VISITS = 64;

/**
 * Goes to a member, does one thing there and closes the connection: at most `MEMBER_VISITS` at a time, each within its
 * own time limit, so that a member that hangs costs a place in the pool and nothing else.
 */
export class MemberVisits {
  readonly #clock: Clock;
  readonly #connector: Pick<ClusterConnector, "connectMember">;
  readonly #timeoutMs: number;
  readonly #pool: LimitFunction = pLimit(MEMBER_VISITS);

  /** @param timeoutMs one visit, connection included */
  constructor(clock: Clock, connector: Pick<ClusterConnector, "connectMember">, timeoutMs: number) {
    this.#clock = clock;
    this.#connector = connector;
    this.#timeoutMs = timeoutMs;
  }

  /** A failure is one of the way to the member; what the visit itself meets is the visit's to tell. */
  async visit<T>(
    membership: Pick<Membership, "cluster" | "access">,
    signal: AbortSignal,
    what: (member: MemberCluster, options: CallOptions) => Promise<T>,
  ): Promise<Result<T, Fault>> {
    return await this.#pool(async () => {
      using limit = deadline(this.#clock, this.#timeoutMs, signal);
      const member = await this.#connector.connectMember(membership, limit.signal);
      if (!member.ok) return failed("kind" in member.error ? memberFault(member.error) : userFault(member.error));
      try {
        return ok(await what(member.value, { timeoutMs: this.#timeoutMs, signal: limit.signal }));
      } finally {
        await member.value.close();
      }
    });
  }
}
