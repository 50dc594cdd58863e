import * as v from "valibot";
import { CAUSES } from "../base/cause.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { CONDITION_STATUSES, type Condition } from "./condition.ts";
import type { Cursor } from "./cursor.ts";
import type { StateError } from "./errors.ts";
import type { HistoryEvent } from "./history.ts";
import { IMPORT_STATES, type ImportRecord } from "./imports.ts";
import { LEAVE_REASONS, type Membership, PHASES, PROTOCOLS, SUMMARY_STATES } from "./membership.ts";
import type { Shard } from "./shard.ts";
import type { Item } from "./table/table.ts";

/**
 * What items must look like when they are read. Attributes that are not named here (keys, write ids, what a later
 * version adds) are passed over.
 */

const moment = v.number();
const cause = v.exactOptional(v.picklist(CAUSES));
const context = v.exactOptional(v.string());

const membership: v.GenericSchema<unknown, Membership> = v.object({
  cluster: v.string(),
  protocol: v.picklist(PROTOCOLS),
  access: v.object({
    kubeconfig: v.union([v.object({ file: v.string(), context }), v.object({ ssm: v.string(), context })]),
  }),
  antrea: v.object({
    namespace: v.string(),
    clusterSet: v.exactOptional(v.string()),
    imports: v.exactOptional(
      v.object({
        labelIdentities: v.exactOptional(v.boolean()),
        namespaces: v.exactOptional(v.array(v.string())),
      }),
    ),
  }),
  options: v.object({ failureThreshold: v.number(), networkProfile: v.string() }),
  shard: v.string(),
  phase: v.picklist(PHASES),
  assignment: v.number(),
  clusterUID: v.exactOptional(v.string()),
  paused: v.exactOptional(v.boolean()),
  leader: v.exactOptional(v.object({ clusterID: v.string(), server: v.string() })),
  keptLeaderHash: v.exactOptional(v.string()),
  leaveReason: v.exactOptional(v.picklist(LEAVE_REASONS)),
  leave: v.exactOptional(
    v.object({
      force: v.boolean(),
      startedAt: moment,
      attempts: v.number(),
      nextAttemptAt: v.exactOptional(moment),
      problem: v.exactOptional(v.string()),
    }),
  ),
  connectedOnce: v.boolean(),
  createdAt: moment,
  createdBy: v.string(),
  updatedAt: moment,
  summary: v.object({ state: v.picklist(SUMMARY_STATES), cause, since: moment }),
});

const condition: v.GenericSchema<unknown, Condition> = v.object({
  status: v.picklist(CONDITION_STATUSES),
  reason: v.string(),
  message: v.string(),
  cause,
  lastTransitionTime: moment,
  observedAt: moment,
  failures: v.number(),
  assignment: v.number(),
  fence: v.number(),
});

const cursor: v.GenericSchema<unknown, Cursor> = v.object({
  server: v.string(),
  namespace: v.string(),
  clusterID: v.string(),
  resourceVersion: v.string(),
  listedAt: moment,
  assignment: v.number(),
  fence: v.number(),
});

const importRecord: v.GenericSchema<unknown, ImportRecord> = v.object({
  name: v.string(),
  kind: v.string(),
  target: v.object({ namespace: v.exactOptional(v.string()), name: v.string() }),
  objects: v.array(
    v.object({
      apiVersion: v.string(),
      kind: v.string(),
      namespace: v.exactOptional(v.string()),
      name: v.string(),
      uid: v.string(),
    }),
  ),
  appliedHash: v.exactOptional(v.string()),
  state: v.picklist(IMPORT_STATES),
  since: moment,
  attempts: v.number(),
  nextAttemptAt: v.exactOptional(moment),
  error: v.exactOptional(v.string()),
  assignment: v.number(),
  fence: v.number(),
});

const event: v.GenericSchema<unknown, HistoryEvent> = v.object({
  id: v.string(),
  at: moment,
  protocol: v.picklist(PROTOCOLS),
  kind: v.string(),
  message: v.string(),
  cause,
});

const shard: v.GenericSchema<unknown, Shard> = v.object({
  name: v.string(),
  networkProfile: v.string(),
  revision: v.number(),
  count: v.number(),
  capacity: v.number(),
  generation: v.optional(v.number(), 1),
  retired: v.optional(v.array(v.object({ generation: v.number(), at: moment })), []),
  disabledRoles: v.optional(v.array(v.string()), []),
});

/** The readers of items, by kind. */
export const items = { membership, condition, cursor, importRecord, event, shard } as const;

/** Reads an item; one that is not as expected is an `invalid` error that names its key and field, not its content. */
export function readItem<T>(schema: v.GenericSchema<unknown, T>, item: Item): Result<T, StateError> {
  const parsed = v.safeParse(schema, item, { abortEarly: true });
  if (parsed.success) return ok(parsed.output);
  const field = v.getDotPath(parsed.issues[0]) ?? "item";
  const problem = `item ${String(item["pk"])} ${String(item["sk"])}: the attribute ${field} is not as this version knows it`;
  return failed({ kind: "invalid", message: `${problem}; restore the item or deploy the version that wrote it` });
}

/** Reads items of one kind, or fails by the first that is not as expected. */
export function readItems<T>(
  schema: v.GenericSchema<unknown, T>,
  from: readonly Item[],
): Result<readonly T[], StateError> {
  const values: T[] = [];
  for (const item of from) {
    const read = readItem(schema, item);
    if (!read.ok) return read;
    values.push(read.value);
  }
  return ok(values);
}
