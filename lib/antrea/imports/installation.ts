import { never } from "../../base/result.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { ImportedObject } from "../../state/imports.ts";
import { sameMeaning } from "./canonical.ts";
import type { Intent } from "./intent.ts";
import type { Look, MemberObjects } from "./member-objects.ts";
import { plannedProgress } from "./planned-progress.ts";
import {
  type ImportContext,
  type ImportKind,
  type ImportOutcome,
  type ImportPlan,
  type ImportProgress,
  type ImportRequest,
  LOOK_AGAIN_MS,
  LOOK_SHORTLY_MS,
  type PlanInput,
} from "./reconciler.ts";
import { removeRecorded } from "./removal.ts";
import { type Rest, Rounds } from "./rounds.ts";

/** An import that is to be in the member, while it is brought there. */
interface Installation {
  readonly of: ImportKind;
  readonly input: PlanInput;
  readonly rounds: Rounds;
  readonly progress: Omit<ImportProgress, "state" | "objects">;
  /** What is ours of it in the member, as far as that is known. */
  readonly owned: () => readonly ImportedObject[];
}

/** Brings an import into the member. What it made under another kind or name goes first. */
export async function install(
  { name, record }: ImportRequest,
  context: ImportContext,
  { of, wanted }: Extract<Intent, { kind: "install" }>,
): Promise<ImportOutcome> {
  const { settings, objects, clock, claims } = context;
  const target = of.target(wanted, settings);
  const rounds = new Rounds(context);
  claims.set(name, { kind: of.kind, target });
  if (record !== undefined && !(record.kind === of.kind && sameMeaning(record.target, target))) {
    const end = await removeRecorded(rounds, record, context);
    return end ?? { kind: "settled", next: plannedProgress(wanted, settings), afterMs: 0, done: rounds.done() };
  }
  if (record?.state === "Excluded") {
    // An excluded import without objects is not looked for in the member: it must not be one while something is made.
    const next = { ...plannedProgress(wanted, settings), objects: record.objects };
    return { kind: "settled", next, afterMs: 0, done: rounds.done() };
  }
  const owner = claims.owner({ kind: of.kind, target }) ?? name;
  if (owner !== name) return claimed(owner, { ...plannedProgress(wanted, settings), state: "Conflicted" });
  const input = { wanted, record, observed: objects, settings, now: clock.now().getTime() };
  const hash = record?.appliedHash === undefined ? {} : { appliedHash: record.appliedHash };
  const progress = { name, kind: of.kind, target, ...hash };
  const owned = (): readonly ImportedObject[] => of.owned({ target, record, observed: objects, settings });
  const looksAt = (): readonly Look[] => of.looksAt({ target, wanted, record, observed: objects });
  const rest = await runAround(of, objects, () => rounds.run(looksAt, () => of.plan(input)));
  const outcome = await tell({ of, input, rounds, progress, owned }, rest);
  // Nobody tells us of what it waits for: the next look is at the member itself.
  if (isWaiting(outcome)) for (const look of looksAt()) objects.forget(look);
  return outcome;
}

/** Once more without a type that the member refuses, if there is another way. */
async function runAround(of: ImportKind, objects: MemberObjects, run: () => Promise<Rest>): Promise<Rest> {
  const rest = await run();
  const refused = rest.kind === "failed" ? of.refusedType?.(rest.error) : undefined;
  if (refused === undefined || objects.isRefused(refused)) return rest;
  objects.noteRefused(refused);
  return await run();
}

function claimed(owner: string, progress: ImportProgress): ImportOutcome {
  const error = `the import ${owner} asks for the same, and comes first by its name: delete one of them`;
  return { kind: "settled", next: { ...progress, error }, afterMs: LOOK_AGAIN_MS, done: { writes: 0, released: [] } };
}

function isWaiting(outcome: ImportOutcome): boolean {
  return outcome.kind === "failed" || (outcome.kind === "settled" && outcome.afterMs !== undefined);
}

async function tell(installation: Installation, rest: Rest): Promise<ImportOutcome> {
  const { rounds } = installation;
  switch (rest.kind) {
    case "halted":
      return { kind: "halted", done: rounds.done() };
    case "rest":
      return settled(installation, rest.plan);
    case "failed":
      return await failedOutcome(installation, rest.error);
    case "untold":
      return untold(installation, rest.error, rest.plan);
    default:
      return never(rest);
  }
}

function settled({ progress, owned, input, rounds }: Installation, plan: ImportPlan): ImportOutcome {
  const { state, error, nextLook } = plan;
  const next = {
    ...progress,
    objects: owned(),
    ...(state === "Applied" ? { appliedHash: input.wanted.hash } : {}),
    state,
    ...(error === undefined ? {} : { error }),
  };
  const outcome = { kind: "settled", next, done: rounds.done() } as const;
  if (nextLook === "with-compare") return outcome;
  return { ...outcome, afterMs: nextLook === "soon" ? LOOK_AGAIN_MS : LOOK_SHORTLY_MS };
}

/** What the server calls invalid stays so until the import changes; the next compare tries it all the same. */
async function failedOutcome(installation: Installation, error: KubeError): Promise<ImportOutcome> {
  const { of, input, rounds, progress } = installation;
  const description = of.describe?.(input, error);
  const action = description === undefined ? undefined : of.report?.(input, description);
  const end = action === undefined ? undefined : await rounds.tell(action);
  if (end?.kind === "halted") return { kind: "halted", done: rounds.done() };
  // What was not told is not in the state either, so that it is told the next time.
  const said = description === undefined || end?.kind === "untold" ? "" : `${description}: `;
  const objects = known(installation);
  const done = rounds.done();
  const next = { ...progress, objects, error: `${said}${error.message}` };
  if (error.kind === "invalid" && end === undefined)
    return { kind: "settled", next: { ...next, state: "Invalid" }, done };
  return { kind: "failed", next: { ...next, state: "Failed" }, error, done };
}

function untold(installation: Installation, error: KubeError, plan: ImportPlan | undefined): ImportOutcome {
  const { progress, rounds } = installation;
  const state = plan?.state ?? "Failed";
  // The other way round it would read as if the leader had been told.
  const said = `the leader could not be told (${error.message}): ${plan?.error ?? state}`;
  const next = { ...progress, objects: known(installation), state, error: said };
  return { kind: "failed", next, error, done: rounds.done() };
}

/** After an error not everything may be known: what the record names stays in it until it is seen to be gone. */
function known({ owned, input }: Installation): readonly ImportedObject[] {
  const seen = owned();
  const isSeen = (object: ImportedObject): boolean =>
    seen.some(
      ({ kind, namespace, name }) => kind === object.kind && namespace === object.namespace && name === object.name,
    );
  return [...(input.record?.objects ?? []).filter((object) => !isSeen(object)), ...seen];
}
