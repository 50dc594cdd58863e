import { never } from "../../base/result.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { ImportRecord } from "../../state/imports.ts";
import { sameMeaning } from "./canonical.ts";
import { decideIntent, type Intent } from "./intent.ts";
import { IMPORT_KINDS } from "./kinds.ts";
import {
  type ImportContext,
  type ImportKind,
  type ImportOutcome,
  type ImportPlan,
  type ImportProgress,
  type ImportRequest,
  type ImportSettings,
  LOOK_AGAIN_MS,
} from "./reconciler.ts";
import type { ResourceImport } from "./resource-import.ts";
import { type Rest, Rounds } from "./rounds.ts";

/**
 * Brings the member to what the leader says of one import, and tells what came of it. Repeatable: the process may end at
 * every await, and the next call goes on from there. A member that is right already is sent nothing, and is not even
 * asked where it is known.
 *
 * The record must say what is being worked on before anything is made: for an import that has no record, or one that is
 * settled as `Pending` with `afterMs` 0 (its kind or target has changed, and what the old one made is gone), write
 * {@link plannedProgress} first.
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

/** What an import is about, as its record says it before the first write. */
export function plannedProgress(wanted: ResourceImport, settings: ImportSettings): ImportProgress {
  const { name, kind, specName, specNamespace } = wanted;
  const shown = { ...(specNamespace === "" ? {} : { namespace: specNamespace }), name: specName };
  const target = IMPORT_KINDS.get(kind)?.target(wanted, settings) ?? shown;
  return { name, kind, target, objects: [], state: "Pending" };
}

function leaveAlone(
  { wanted, record }: ImportRequest,
  { state, because }: Extract<Intent, { kind: "leave" }>,
  settings: ImportSettings,
): ImportOutcome {
  if (wanted === undefined || (state === "Excluded" && record === undefined)) return { kind: "ignored" };
  // What the objects are must stay known: they go when the import does.
  const base = record !== undefined && record.objects.length > 0 ? kept(record) : plannedProgress(wanted, settings);
  return { kind: "settled", next: { ...base, state, error: because }, done: { writes: 0, released: [] } };
}

async function install(
  { name, record }: ImportRequest,
  context: ImportContext,
  { of, wanted }: Extract<Intent, { kind: "install" }>,
): Promise<ImportOutcome> {
  const { settings, objects } = context;
  const target = of.target(wanted, settings);
  const rounds = new Rounds(context);
  if (record !== undefined && !(record.kind === of.kind && sameMeaning(record.target, target))) {
    const end = await removeRecorded(rounds, record, context);
    return end ?? { kind: "settled", next: plannedProgress(wanted, settings), afterMs: 0, done: rounds.done() };
  }
  const input = { wanted, record, observed: objects, settings };
  const rest = await rounds.run(of.looksAt(target, wanted), () => of.plan(input));
  const owned = of.owned({ target, record, observed: objects, settings });
  const hash = record?.appliedHash === undefined ? {} : { appliedHash: record.appliedHash };
  const progress = { name, kind: of.kind, target, objects: owned, ...hash };
  return installed(rounds, rest, progress, wanted);
}

function installed(
  rounds: Rounds,
  rest: Rest,
  progress: Omit<ImportProgress, "state">,
  { hash }: ResourceImport,
): ImportOutcome {
  const done = rounds.done();
  switch (rest.kind) {
    case "halted":
      return { kind: "halted", done };
    case "failed":
      return failedOutcome(rounds, progress, rest.error);
    case "rest": {
      const { state, error, nextLook } = rest.plan;
      const next = {
        ...progress,
        ...(state === "Applied" ? { appliedHash: hash } : {}),
        state,
        ...(error === undefined ? {} : { error }),
      };
      return { kind: "settled", next, done, ...(nextLook === "soon" ? { afterMs: LOOK_AGAIN_MS } : {}) };
    }
    default:
      return never(rest);
  }
}

/** What the server calls invalid stays so until the import changes; the next compare tries it all the same. */
function failedOutcome(rounds: Rounds, progress: Omit<ImportProgress, "state">, error: KubeError): ImportOutcome {
  const done = rounds.done();
  const { message } = error;
  if (error.kind === "invalid")
    return { kind: "settled", next: { ...progress, state: "Invalid", error: message }, done };
  return { kind: "failed", next: { ...progress, state: "Failed", error: message }, error, done };
}

async function takeOut(
  request: ImportRequest,
  context: ImportContext,
  because: string | undefined,
): Promise<ImportOutcome> {
  const { wanted, lastSeen } = request;
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
  return {
    kind: "settled",
    next: { ...base, objects: [], state: "Excluded", error: because },
    done: rounds.done(),
  };
}

type Removable = Pick<ImportRecord, "name" | "kind" | "target" | "objects">;

/** Undefined: nothing that is ours is left of it. */
async function removeRecorded(
  rounds: Rounds,
  record: Removable,
  context: ImportContext,
): Promise<ImportOutcome | undefined> {
  const of: ImportKind | undefined = IMPORT_KINDS.get(record.kind);
  if (of === undefined) return undefined;
  const { objects, settings } = context;
  const { target } = record;
  const plan = (): ImportPlan => of.planRemoval({ target, record, observed: objects, settings });
  const rest = await rounds.run(of.looksAt(target, undefined), plan);
  const done = rounds.done();
  switch (rest.kind) {
    case "rest":
      return undefined;
    case "halted":
      return { kind: "halted", done };
    case "failed": {
      const next = { ...kept(record), state: "Removing", error: rest.error.message } as const;
      return { kind: "failed", next, error: rest.error, done };
    }
    default:
      return never(rest);
  }
}

function kept({ name, kind, target, objects }: Removable): Omit<ImportProgress, "state"> {
  return { name, kind, target, objects };
}
