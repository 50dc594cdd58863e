import * as v from "valibot";
import { cutText } from "../base/limits.ts";

/** Something that is not as it should be, for one cluster of a shard. */
export interface BatonException {
  readonly kind: string;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Exceptions by cluster. */
export type BatonExceptions = Readonly<Record<string, BatonException>>;

/** The baton as the table holds it. All moments are milliseconds since the epoch, of the writer's wall clock. */
export interface StoredBaton {
  readonly fence: number;
  readonly renewals: number;
  readonly holder?: string;
  readonly expiresAt?: number;
  readonly yielding?: boolean;
  readonly endsAt?: number;
  readonly yieldTo?: number;
  readonly standby?: { readonly id: string; readonly until: number };
  readonly deployedAt?: number;
  readonly roundAt?: number;
  readonly exceptions?: BatonExceptions;
  readonly moreExceptions?: number;
  readonly seenRevision?: number;
  readonly stoppedFence?: number;
  readonly writeId: string;
}

const exceptions = v.record(v.string(), v.object({ kind: v.string(), count: v.number(), since: v.number() }));

/** Reads a baton item. */
export const batonSchema: v.GenericSchema<unknown, StoredBaton> = v.object({
  fence: v.number(),
  renewals: v.number(),
  holder: v.exactOptional(v.string()),
  expiresAt: v.exactOptional(v.number()),
  yielding: v.exactOptional(v.boolean()),
  endsAt: v.exactOptional(v.number()),
  yieldTo: v.exactOptional(v.number()),
  standby: v.exactOptional(v.object({ id: v.string(), until: v.number() })),
  deployedAt: v.exactOptional(v.number()),
  roundAt: v.exactOptional(v.number()),
  exceptions: v.exactOptional(exceptions),
  moreExceptions: v.exactOptional(v.number()),
  seenRevision: v.exactOptional(v.number()),
  stoppedFence: v.exactOptional(v.number()),
  writeId: v.string(),
});

/** Reads an item that holds the exceptions which did not fit into the baton. */
export const exceptionPartSchema: v.GenericSchema<unknown, { fence: number; exceptions: BatonExceptions }> = v.object({
  fence: v.number(),
  exceptions,
});

/** Most exceptions of one item: with the longest names they stay far below DynamoDB's 400 KB. */
export const EXCEPTIONS_PER_ITEM = 200;

/** Longest kind of an exception, in bytes. */
const KIND_BYTES = 128;

/** Divides exceptions, in the order of their clusters, into what the baton carries and the parts that follow it. */
export function divideExceptions(all: BatonExceptions): {
  readonly first: BatonExceptions;
  readonly rest: readonly BatonExceptions[];
} {
  const entries = Object.entries(all)
    .map(([cluster, e]) => [cluster, { ...e, kind: cutText(e.kind, KIND_BYTES) }] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  const parts: BatonExceptions[] = [];
  for (let start = 0; start < entries.length; start += EXCEPTIONS_PER_ITEM) {
    parts.push(Object.fromEntries(entries.slice(start, start + EXCEPTIONS_PER_ITEM)));
  }
  const [first = {}, ...rest] = parts;
  return { first, rest };
}
