import type { KubeObject, ObjectRef } from "../../kube/client.ts";
import type { ImportRecord, ImportState } from "../../state/imports.ts";
import { type MemberResource, newObject, objectWords } from "./member-resources.ts";
import { isGoing, isMarked, isRecorded } from "./ownership.ts";
import type { ImportAction, ImportPlan, Judgement } from "./reconciler.ts";

/** Names of Services and most others: a DNS label. */
const NAME_LENGTH = 63;

/** What makes the import applied, if the next plan finds nothing to add. */
export function writes(actions: readonly ImportAction[]): ImportPlan {
  return { actions, state: "Applied", nextLook: "with-compare", released: [] };
}

/** There is nothing to write; until the import changes, or until the next compare. */
export function atRest(state: ImportState, error?: string): ImportPlan {
  return {
    actions: [],
    state,
    ...(error === undefined ? {} : { error }),
    nextLook: "with-compare",
    released: [],
  };
}

/** The same, for something that may change in the member without our being told. */
export function waiting(state: ImportState, error: string): ImportPlan {
  return { ...atRest(state, error), nextLook: "soon" };
}

/** A user has an object of the name that the import needs. */
export function taken(type: MemberResource, ref: ObjectRef): ImportPlan {
  const whose = `${objectWords(type, ref)} is there already and was not imported: it is left as it is. `;
  return waiting("Conflicted", `${whose}Rename or delete it, and the import is installed within a minute`);
}

/** One of ours is on its way out; its name is free when its finalizers are done. */
export function waitForDeletion({ kind, metadata }: KubeObject): ImportPlan {
  const name = [metadata.namespace, metadata.name].filter((part) => part !== undefined).join("/");
  return waiting("Pending", `${kind ?? "object"} ${name} is being deleted; the import is installed when it is gone`);
}

/** Creates or updates the only object of an import; undefined: it is right already. */
export interface OneObject {
  readonly type: MemberResource;
  readonly ref: ObjectRef;
  readonly seen: KubeObject | undefined;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Whether what was seen says the same. */
  readonly same: boolean;
}

/** The plan for a kind that makes one object with a `spec`. */
export function planOne({ type, ref, seen, spec, annotations, same }: OneObject): ImportPlan {
  if (seen === undefined) {
    return writes([{ kind: "create", ref, object: { ...newObject(type, ref, annotations), spec } }]);
  }
  if (isGoing(seen)) return waitForDeletion(seen);
  return same ? atRest("Applied") : writes([{ kind: "update", ref, object: { ...seen, spec } }]);
}

/** The judgement on a fault in the import itself. */
export function invalid(because: string | undefined): Judgement | undefined {
  return because === undefined ? undefined : { kind: "leave", state: "Invalid", because };
}

/** Why the name cannot be that of an object, in a sentence; undefined when it can. */
export function invalidTarget({ namespace, name }: ImportRecord["target"], prefix: string): string | undefined {
  if (name === "") return "the import has no spec.name";
  if (namespace === "") return "the import has no spec.namespace";
  const length = prefix.length + name.length;
  if (length <= NAME_LENGTH) return undefined;
  return `the name ${prefix}${name} has ${length} characters: ${NAME_LENGTH} are allowed, export it under a shorter one`;
}

/** An object that goes with its import, if it is ours. */
export interface Deletable {
  readonly type: MemberResource;
  readonly ref: ObjectRef;
  readonly object: KubeObject | undefined;
  /** Without it the object is its user's; undefined: it is known to be ours. */
  readonly marker: string | undefined;
}

/** Deletes what is ours, in the given order; what its user has taken over stays and is named. */
export function planDeletes(
  entries: readonly Deletable[],
  record: Pick<ImportRecord, "objects"> | undefined,
): ImportPlan {
  const actions: ImportAction[] = [];
  const released: string[] = [];
  for (const { type, ref, object, marker } of entries) {
    if (object === undefined || isGoing(object)) continue;
    if (marker === undefined || isMarked(object, marker)) actions.push({ kind: "delete", ref, seen: object });
    else if (isRecorded(object, record)) released.push(objectWords(type, ref));
  }
  return { actions, state: "Removing", nextLook: "soon", released };
}
