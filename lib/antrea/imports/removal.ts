import { never } from "../../base/result.ts";
import type { ImportRecord } from "../../state/imports.ts";
import { IMPORT_KINDS } from "./kinds.ts";
import { plannedProgress } from "./planned-progress.ts";
import type { ImportContext, ImportOutcome, ImportPlan, ImportProgress, ImportRequest } from "./reconciler.ts";
import { Rounds } from "./rounds.ts";

/** What of a record names the objects that an import made. */
export type Removable = Pick<ImportRecord, "name" | "kind" | "target" | "objects" | "state">;

/**
 * Takes out of the member what is ours of an import.
 * @param because undefined: it is gone in the leader; else why it is not for this member
 */
export async function takeOut(
  request: ImportRequest,
  context: ImportContext,
  because: string | undefined,
): Promise<ImportOutcome> {
  const { name, wanted, lastSeen } = request;
  context.claims.set(name, undefined);
  const known = wanted ?? lastSeen;
  const seen = known === undefined ? undefined : plannedProgress(known, context.settings);
  const record = request.record ?? seen;
  if (record === undefined) return { kind: "ignored" };
  const rounds = new Rounds(context);
  const isOut = because !== undefined && record.state === "Excluded" && record.objects.length === 0;
  const end = isOut ? undefined : await removeRecorded(rounds, record, context);
  if (end !== undefined) return end;
  if (because === undefined) return { kind: "removed", done: rounds.done() };
  const base = seen ?? kept(record);
  const next = { ...base, objects: [], state: "Excluded", error: because } as const;
  return { kind: "settled", next, done: rounds.done() };
}

/** Undefined: nothing that is ours is left of it. */
export async function removeRecorded(
  rounds: Rounds,
  record: Removable,
  context: ImportContext,
): Promise<ImportOutcome | undefined> {
  const of = IMPORT_KINDS.get(record.kind);
  if (of === undefined) return undefined;
  const { objects, settings, claims } = context;
  const { target } = record;
  // What another import asks for as well is that one's from now on.
  const owner = claims.owner(record);
  if (owner !== undefined && owner !== record.name) return undefined;
  const plan = (): ImportPlan => of.planRemoval({ target, record, observed: objects, settings });
  const rest = await rounds.run(() => of.looksAt({ target, wanted: undefined, record, observed: objects }), plan);
  const done = rounds.done();
  switch (rest.kind) {
    case "rest":
      return undefined;
    case "halted":
      return { kind: "halted", done };
    case "failed":
    case "untold": {
      const next = { ...kept(record), state: "Removing", error: rest.error.message } as const;
      return { kind: "failed", next, error: rest.error, done };
    }
    default:
      return never(rest);
  }
}

/** What a record keeps while its objects stay. */
export function kept({ name, kind, target, objects }: Removable): Omit<ImportProgress, "state"> {
  return { name, kind, target, objects };
}
