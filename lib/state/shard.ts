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
  /** Part of the names of its schedules; rises when the last membership goes. */
  readonly generation: number;
  /** Generations that have ended: there must be no schedule of theirs. */
  readonly retired: readonly RetiredGeneration[];
  /** Roles whose schedule a person has disabled, as it was last seen. */
  readonly disabledRoles: readonly string[];
}

/**
 * A generation of schedules that is not needed any more. The very write that takes the last membership out of a shard
 * retires its generation, and the next membership that comes is served by schedules of the next one, under other names.
 * So whoever deletes the retired ones, however late, never deletes what another needs.
 */
export interface RetiredGeneration {
  readonly generation: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * For how long a retired generation is remembered, in milliseconds: an invocation that read the shard before may still
 * make its schedules, and none lives longer than Lambda's 15 minutes.
 */
export const RETIRED_MS = 16 * 60_000;

/**
 * Most memberships of one shard: a Lambda function has 1,024 descriptors, and hubs need up to 800 of them; with shared
 * connections a thousand memberships fit.
 */
export const SHARD_CAPACITY = 1000;

/** Name of a network profile's shard number `number`, counted from 1. */
export function shardName(networkProfile: string, number: number): string {
  return `${networkProfile}-${number}`;
}
