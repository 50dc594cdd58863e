import type { Clock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import { keys } from "./keys.ts";
import { expr, path } from "./table/expression.ts";
import type { Call, Table } from "./table/table.ts";

/** The item layout that this version reads and writes. It rises when an older version could do harm to the newer items. */
const SCHEMA_VERSION = 1;

/** How long a look at the schema item is believed, in milliseconds: a newer deployment may change it at any time. */
const BELIEVED_MS = 5 * 60_000;

/** Looks after the schema version item. */
export interface SchemaGate {
  /** Writes the item at first use; an `invalid` error when the table belongs to a newer version. */
  ensure(signal: AbortSignal): Promise<Result<void, StateError>>;
}

/** A gate for one table. It remembers that the schema fits, and asks again after a while. */
export function schemaGate(table: Table, clock: Clock): SchemaGate {
  let believedUntil: number | undefined;
  return {
    ensure: async (signal) => {
      const now = clock.now().getTime();
      if (believedUntil !== undefined && now < believedUntil) return ok(undefined);
      const looked = await look(table, { what: "check the schema version", signal });
      // A table that fitted minutes ago is not given up because one look failed: the write itself will tell.
      if (!looked.ok && looked.error.kind !== "invalid" && believedUntil !== undefined) return ok(undefined);
      if (looked.ok) believedUntil = now + BELIEVED_MS;
      return looked;
    },
  };
}

async function look(table: Table, call: Call): Promise<Result<void, StateError>> {
  const read = await table.get(keys.schema, call);
  if (!read.ok) return read;
  if (read.value !== undefined) return fits(read.value["version"]);
  const item = { ...keys.schema, version: SCHEMA_VERSION };
  const condition = expr`attribute_not_exists(${path("pk")})`;
  const written = await table.write({ kind: "put", item, condition }, call);
  if (!written.ok) return written;
  return written.value.kind === "refused" ? fits(written.value.standing?.["version"]) : ok(undefined);
}

function fits(version: unknown): Result<void, StateError> {
  if (typeof version === "number" && version <= SCHEMA_VERSION) return ok(undefined);
  return failed({
    kind: "invalid",
    message: `the table has schema version ${String(version)}, this version of Hawser writes ${SCHEMA_VERSION} at most; nothing was written; deploy the newer version again or restore the table`,
  });
}

/** The same table, every write of which asks the gate first. */
export function guardedTable(table: Table, gate: SchemaGate): Table {
  const guarded = async <T>(
    call: Call,
    write: () => Promise<Result<T, StateError>>,
  ): Promise<Result<T, StateError>> => {
    const ensured = await gate.ensure(call.signal);
    return ensured.ok ? await write() : ensured;
  };
  return {
    get: async (key, call) => await table.get(key, call),
    getMany: async (many, call) => await table.getMany(many, call),
    query: async (query, call) => await table.query(query, call),
    write: async (write, call) => await guarded(call, async () => await table.write(write, call)),
    transact: async (writes, call) => await guarded(call, async () => await table.transact(writes, call)),
    close: () => table.close(),
  };
}
