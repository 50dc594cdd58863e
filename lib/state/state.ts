import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Random } from "../base/random.ts";
import type { Result } from "../base/result.ts";
import { BatonTable } from "./baton-table.ts";
import { type ConditionStore, conditionStore } from "./condition-store.ts";
import { type CursorStore, cursorStore } from "./cursor-store.ts";
import type { StateError } from "./errors.ts";
import { type HistoryStore, historyStore } from "./history-store.ts";
import { type ImportStore, importStore } from "./import-store.ts";
import { type MembershipListStore, membershipList } from "./membership-list.ts";
import { type MembershipStore, membershipStore } from "./membership-store.ts";
import { guardedTable, schemaGate } from "./schema-version.ts";
import { SHARD_CAPACITY } from "./shard.ts";
import { type ShardStore, shardStore } from "./shard-store.ts";
import type { TableLocation } from "./table/connection.ts";
import { openDynamoTable } from "./table/dynamo-table.ts";

/** How the state is opened. */
export interface StateOptions extends TableLocation {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Most memberships of a new shard; absent: 1,000. */
  readonly shardCapacity?: number;
  /** Told of an item that a list had to leave out because it is not as this version knows it. */
  readonly onUnreadable?: (error: StateError) => void;
}

/** All that Hawser remembers. Every call ends within seconds, or shortly after its signal fires. */
export interface State
  extends MembershipStore,
    MembershipListStore,
    ShardStore,
    ConditionStore,
    HistoryStore,
    CursorStore,
    ImportStore {
  readonly batons: BatonTable;
  /** Notes the schema version at first use, and refuses a table of a newer one. Every write does this by itself. */
  ensureSchema(signal: AbortSignal): Promise<Result<void, StateError>>;
  /** Closes connections. */
  close(): void;
}

/** Opens the state in a table. Nothing is sent yet. */
export function openState(options: StateOptions): State {
  const { clock, random, ids, shardCapacity = SHARD_CAPACITY, onUnreadable = () => {} } = options;
  const unguarded = openDynamoTable(options);
  const gate = schemaGate(unguarded, clock);
  const table = guardedTable(unguarded, gate);
  // Connections of their own: a baton must not stand behind the records of a thousand memberships while the table is slow.
  const batonTable = guardedTable(openDynamoTable(options), gate);
  const parts = { table, clock, random, ids, shardCapacity, onUnreadable };
  const shards = shardStore(parts);
  return {
    ...membershipStore(parts, shards),
    ...membershipList(parts),
    ...shards,
    ...conditionStore(parts),
    ...historyStore(parts),
    ...cursorStore(parts),
    ...importStore(parts),
    batons: new BatonTable({ ...parts, table: batonTable }),
    ensureSchema: async (signal) => await gate.ensure(signal),
    close: () => {
      table.close();
      batonTable.close();
    },
  };
}
