import { deadline } from "../base/clock.ts";
import { failed, type Result } from "../base/result.ts";
import type { CallOptions } from "../kube/client.ts";
import type { Membership } from "../state/membership.ts";
import { type Fault, memberFault, userFault } from "./fault.ts";
import type { LeaveDependencies, LeavingMember } from "./leave-ports.ts";

/** Goes to the member, does one thing there within the time limit, and closes the connection. */
export async function visitLeaving<T>(
  { clock, connector, timeoutMs }: Pick<LeaveDependencies, "clock" | "connector" | "timeoutMs">,
  membership: Pick<Membership, "cluster" | "access">,
  signal: AbortSignal,
  what: (member: LeavingMember, options: CallOptions) => Promise<Result<T, Fault>>,
): Promise<Result<T, Fault>> {
  using limit = deadline(clock, timeoutMs, signal);
  const member = await connector.connectMember(membership, limit.signal);
  if (!member.ok) return failed("kind" in member.error ? memberFault(member.error) : userFault(member.error));
  try {
    return await what(member.value, { timeoutMs, signal: limit.signal });
  } finally {
    await member.value.close();
  }
}
