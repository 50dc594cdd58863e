import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Random } from "../base/random.ts";
import type { StateError } from "./errors.ts";
import type { Table } from "./table/table.ts";

/** What every store of this room works with. */
export interface StoreParts {
  readonly table: Table;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Most memberships of a new shard. */
  readonly shardCapacity: number;
  /** Told of an item that a list had to leave out, so that one broken item does not stop the others. */
  readonly onUnreadable: (error: StateError) => void;
}
