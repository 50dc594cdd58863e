import { randomUUID } from "node:crypto";
import { ulid } from "ulid";
import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/** Names for things that need one. */
export interface Ids {
  /** A new UUID (RFC 9562, version 4). */
  uuid(): string;
  /** A new ULID: 26 characters that sort by time of making. */
  ulid(): string;
}

/** Ids of the machine, their time and chance taken from the given sources. */
export function systemIds(clock: Clock, random: Random): Ids {
  return { uuid: () => randomUUID(), ulid: () => ulid(clock.now().getTime(), () => random.next()) };
}
