import { conflict, deleted, notFound, reply } from "../status.ts";
import type { ApiObject, ApiReply, ResourceRequest } from "../types.ts";
import { type Admitted, mutateDelete, validateByAdmission } from "./admit.ts";
import { type Core, isRefused, type Located, type Refused, timestamp, withWarnings } from "./core.ts";
import { type DeleteOptions, readDeleteOptions } from "./delete-options.ts";
import { present, presentItem } from "./presentation.ts";
import { apiVersionOf, tableOf } from "./resource-type.ts";
import { readSelection } from "./selection.ts";
import { keyOf } from "./storage/store.ts";

const TRIES = 5;

/** Deletes an object, or marks it as deleted while finalizers hold it. */
export async function remove(core: Core, request: ResourceRequest, at: Located): Promise<ApiReply> {
  const options = readDeleteOptions(request);
  if (isRefused(options)) return reply(options.refused);
  const warnings: string[] = [];
  const name = request.name ?? "";
  const result = await removeOne({ core, request, at, options, warnings }, keyOf(request.namespace, name), name);
  if (isRefused(result)) return withWarnings(reply(result.refused), warnings);
  const { object, gone } = result;
  const whole = !gone || at.type.strategy.returnsDeleted;
  const body = whole ? present(object, at) : deleted(at.type, name, object.metadata.uid);
  return withWarnings({ code: 200, body }, warnings);
}

/** Deletes all selected objects; answers with the list of them. */
export async function removeCollection(core: Core, request: ResourceRequest, at: Located): Promise<ApiReply> {
  const options = readDeleteOptions(request);
  if (isRefused(options)) return reply(options.refused);
  const selection = readSelection(request, at);
  if (isRefused(selection)) return reply(selection.refused);
  const warnings: string[] = [];
  const items: Record<string, unknown>[] = [];
  for (const object of core.store.list(tableOf(at.type), request.namespace)) {
    if (selection.selects !== undefined && !selection.selects(object)) continue;
    const name = object.metadata.name ?? "";
    const key = keyOf(object.metadata.namespace, name);
    const result = await removeOne({ core, request, at, options, warnings }, key, name);
    if (isRefused(result) && result.refused.code !== 404) return withWarnings(reply(result.refused), warnings);
    if (!isRefused(result)) items.push(presentItem(result.object, at));
  }
  const metadata = { resourceVersion: String(core.store.resourceVersion) };
  const apiVersion = apiVersionOf(at.type.group, at.version.name);
  return withWarnings({ code: 200, body: { kind: at.type.listKind, apiVersion, metadata, items } }, warnings);
}

interface Removal {
  readonly core: Core;
  readonly request: ResourceRequest;
  readonly at: Located;
  readonly options: DeleteOptions;
  readonly warnings: string[];
}

interface Removed {
  readonly object: ApiObject;
  readonly gone: boolean;
}

async function removeOne(removal: Removal, key: string, name: string): Promise<Removed | Refused> {
  const { core, request, at, options, warnings } = removal;
  const table = tableOf(at.type);
  const write: Admitted = { core, request, at, dryRun: options.dryRun, operation: "DELETE", warnings };
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const old = core.store.get(table, key);
    if (old === undefined) return { refused: notFound(at.type, name) };
    const shown = present(old, at);
    const refused = at.type.strategy.refuseDelete?.(old);
    if (refused !== undefined) return { refused };
    const denied =
      (await mutateDelete(write, shown)) ??
      checkPreconditions(old, at, options) ??
      (await validateByAdmission(write, undefined, shown));
    if (denied !== undefined) return denied;
    if (core.store.get(table, key) === old) {
      return take(core, at, { key, old, dryRun: options.dryRun, propagation: options.propagation });
    }
  }
  return {
    refused: conflict(
      at.type,
      name,
      "the object has been modified; please apply your changes to the latest version and try again",
    ),
  };
}

function checkPreconditions(old: ApiObject, at: Located, options: DeleteOptions): Refused | undefined {
  const { metadata } = old;
  // The server fills the kind in here where other conflicts name the resource.
  const of = { group: at.type.group, resource: at.type.kind };
  if (options.uid !== undefined && options.uid !== metadata.uid) {
    const words = `the UID in the precondition (${options.uid}) does not match the UID in record (${metadata.uid ?? ""})`;
    return {
      refused: conflict(of, metadata.name ?? "", `${words}. The object might have been deleted and then recreated`),
    };
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== metadata.resourceVersion) {
    const record = metadata.resourceVersion ?? "";
    const words = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${record})`;
    return { refused: conflict(of, metadata.name ?? "", `${words}. The object might have been modified`) };
  }
  return undefined;
}

/** What is deleted, and how. */
export interface Taking {
  readonly key: string;
  readonly old: ApiObject;
  readonly dryRun: boolean;
  readonly propagation?: DeleteOptions["propagation"];
}

const PROPAGATION_FINALIZERS = { Foreground: "foregroundDeletion", Orphan: "orphan" } as const;

/** The policy becomes a finalizer, which the garbage collector takes away when dependents are dealt with. */
function withPropagation(old: ApiObject, propagation: DeleteOptions["propagation"]): ApiObject {
  if (propagation === undefined || old.metadata.deletionTimestamp !== undefined) return old;
  const own: readonly string[] = Object.values(PROPAGATION_FINALIZERS);
  const others = (old.metadata.finalizers ?? []).filter((name) => !own.includes(name));
  const added = propagation === "Background" ? [] : [PROPAGATION_FINALIZERS[propagation]];
  const { finalizers: _before, ...metadata } = old.metadata;
  const finalizers = [...others, ...added];
  return { ...old, metadata: { ...metadata, ...(finalizers.length === 0 ? {} : { finalizers }) } };
}

/** Removes the object from the store, or marks it while finalizers or a controller hold it. */
export function take(core: Core, at: Located, { key, old: stored, dryRun, propagation }: Taking): Removed {
  const table = tableOf(at.type);
  const old = withPropagation(stored, propagation);
  const held = at.type.strategy.beginDelete !== undefined || (old.metadata.finalizers ?? []).length > 0;
  if (!held) return { object: dryRun ? old : (core.store.remove(table, key) ?? old), gone: true };
  if (old.metadata.deletionTimestamp !== undefined) return { object: old, gone: false };
  const now = timestamp(core.clock);
  const begun = at.type.strategy.beginDelete?.(withDeletion(old, now), now) ?? markDeleted(old, now);
  return { object: dryRun ? begun : core.store.put(table, begun), gone: false };
}

function withDeletion(old: ApiObject, now: string): ApiObject {
  return { ...old, metadata: { ...old.metadata, deletionTimestamp: now } };
}

/** Deletion counts as a change of what is wanted. */
function markDeleted(old: ApiObject, now: string): ApiObject {
  const { generation } = old.metadata;
  const counted = generation === undefined || generation === 0 ? {} : { generation: generation + 1 };
  const marked = withDeletion(old, now);
  return { ...marked, metadata: { ...marked.metadata, deletionGracePeriodSeconds: 0, ...counted } };
}
