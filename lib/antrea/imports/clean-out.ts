import pLimit from "p-limit";
import { failed, ok, type Result } from "../../base/result.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { ImportedObject, ImportRecord } from "../../state/imports.ts";
import { listMember } from "./member-list.ts";
import type { ImportContext } from "./reconciler.ts";
import { takeOut } from "./removal.ts";
import { findStrays } from "./strays.ts";

/** Imports that are taken out at a time. */
const CONCURRENCY = 8;

/** What was taken out of a member. */
export interface CleanedOut {
  /** Objects that were deleted. */
  readonly deleted: number;
  /** Resources that our identity may not list: what is unrecorded there stays. */
  readonly unseen: readonly string[];
  /** Objects that stay because their user has taken them over. */
  readonly released: readonly string[];
  /** Objects that our identity may not delete. */
  readonly denied: readonly string[];
}

/**
 * Takes everything out of a member that was imported: what the records name, and what an importer has left besides. By the
 * same rules of ownership as a single removal; repeatable, and one that fails does not keep the others from going.
 *
 * @param forget called when nothing of a record is left
 */
export async function cleanOut(
  context: ImportContext,
  records: readonly ImportRecord[],
  forget: (record: ImportRecord) => Promise<void>,
): Promise<Result<CleanedOut, KubeError>> {
  const listed = await listMember(context);
  if (!listed.ok) return listed;
  const now = context.clock.now().getTime();
  const stamp = { since: now, attempts: 0, assignment: 0, fence: 0 };
  const strays = findStrays(context.objects, [], records, context.settings).map((stray) => ({ ...stray, ...stamp }));
  const limit = pLimit(CONCURRENCY);
  let deleted = 0;
  const released: string[] = [];
  const denied: string[] = [];
  const errors: KubeError[] = [];
  const remove = async (record: ImportRecord): Promise<void> => {
    const outcome = await takeOut({ name: record.name, wanted: undefined, record }, context, undefined);
    if (outcome.kind !== "ignored") {
      deleted += outcome.done.writes;
      released.push(...outcome.done.released);
    }
    if (outcome.kind === "failed") {
      // Trying again does not give us a right that was taken away.
      if (outcome.error.kind === "forbidden") denied.push(...record.objects.map(wordsOf));
      else errors.push(outcome.error);
    }
    if (outcome.kind === "removed") await forget(record);
  };
  await Promise.all([...records, ...strays].map((record) => limit(() => remove(record))));
  const [first] = errors;
  return first === undefined ? ok({ deleted, unseen: listed.value, released, denied }) : failed(first);
}

function wordsOf({ kind, namespace, name }: ImportedObject): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
