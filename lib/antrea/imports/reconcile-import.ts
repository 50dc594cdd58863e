import { never } from "../../base/result.ts";
import { install } from "./installation.ts";
import { decideIntent } from "./intent.ts";
import { IMPORT_KINDS } from "./kinds.ts";
import { plannedProgress } from "./planned-progress.ts";
import type { ImportContext, ImportOutcome, ImportRequest, ImportSettings, Judgement } from "./reconciler.ts";
import { kept, takeOut } from "./removal.ts";

/**
 * Brings the member to what the leader says of one import, and tells what came of it. Repeatable: the process may end at
 * every await, and the next call goes on from there. A member that is right already is sent nothing, and is not even
 * asked where it is known.
 *
 * The record must say what is being worked on before anything is made: for an import that has no record, or one that is
 * settled as `Pending` with `afterMs` 0 (its kind or target has changed, and what the old one made is gone), write
 * `plannedProgress` first.
 */
export async function reconcileImport(request: ImportRequest, context: ImportContext): Promise<ImportOutcome> {
  const intent = decideIntent(request, context.settings);
  switch (intent.kind) {
    case "leave":
      return leaveAlone(request, intent, context.settings);
    case "remove":
      return await takeOut(request, context, intent.because);
    case "install":
      return await install(request, context, intent);
    default:
      return never(intent);
  }
}

function leaveAlone(
  { wanted, record }: ImportRequest,
  { state, because }: Extract<Judgement, { kind: "leave" }>,
  settings: ImportSettings,
): ImportOutcome {
  if (wanted === undefined || (state === "Excluded" && record === undefined)) return { kind: "ignored" };
  // What an earlier version made, or was making when the process ended, must stay known: it goes when the import does.
  const mayHaveMade = record !== undefined && IMPORT_KINDS.has(record.kind);
  const base = mayHaveMade ? kept(record) : plannedProgress(wanted, settings);
  return { kind: "settled", next: { ...base, state, error: because }, done: { writes: 0, released: [] } };
}
