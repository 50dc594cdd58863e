/** A group of memberships served by one invocation. */
export interface Shard {
  readonly name: string;
  readonly networkProfile: string;
  /** Rises whenever a membership joins, leaves or changes; a holder reads its memberships again when it moves. */
  readonly revision: number;
  /** How many memberships it holds. */
  readonly count: number;
  /** How many it may hold. */
  readonly capacity: number;
}

/**
 * Most memberships of one shard: a Lambda function has 1,024 descriptors, and hubs need up to 800 of them; with shared
 * connections a thousand memberships fit.
 */
export const SHARD_CAPACITY = 1000;

/** Name of a network profile's shard number `number`, counted from 1. */
export function shardName(networkProfile: string, number: number): string {
  return `${networkProfile}-${number}`;
}
