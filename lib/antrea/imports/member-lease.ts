import type { Result } from "../../base/result.ts";
import type { Membership } from "../../state/membership.ts";
import { type Fault, memberFault, userFault } from "../fault.ts";
import type { SyncConnector, SyncedMember } from "./sync-ports.ts";

/**
 * The connection to one member, open while somebody uses it: a shard has more members than sockets for them, and most of
 * them have nothing to import at most times.
 */
export class MemberLease {
  readonly #connector: Pick<SyncConnector, "connectMember">;
  readonly #membership: Pick<Membership, "cluster" | "access">;
  #open: Promise<Result<SyncedMember, Fault>> | undefined;
  #users = 0;

  constructor(connector: Pick<SyncConnector, "connectMember">, membership: Pick<Membership, "cluster" | "access">) {
    this.#connector = connector;
    this.#membership = membership;
  }

  /** Does something with the member; the connection is shared with all who do so at the same time. */
  async use<T>(
    signal: AbortSignal,
    what: (member: SyncedMember) => Promise<Result<T, Fault>>,
  ): Promise<Result<T, Fault>> {
    this.#users += 1;
    this.#open ??= this.#connect(signal);
    const open = this.#open;
    try {
      const member = await open;
      return member.ok ? await what(member.value) : member;
    } finally {
      this.#users -= 1;
      if (this.#users === 0) await this.#close();
    }
  }

  async #connect(signal: AbortSignal): Promise<Result<SyncedMember, Fault>> {
    const made = await this.#connector.connectMember(this.#membership, signal);
    if (made.ok) return made;
    return { ok: false, error: "kind" in made.error ? memberFault(made.error) : userFault(made.error) };
  }

  async #close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    const member = await open;
    if (member?.ok === true) await member.value.close();
  }
}
