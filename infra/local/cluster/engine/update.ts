import { invalid } from "../field-error.ts";
import { badRequest, conflict, failure, invalidObject, MODIFIED, notFound, reply } from "../status.ts";
import type { ApiObject, ApiReply, ResourceRequest } from "../types.ts";
import { type Admitted, mutate, validateByAdmission } from "./admit.ts";
import { type Core, isRefused, type Located, type Refused, withWarnings } from "./core.ts";
import { create, readBody } from "./create.ts";
import { decode } from "./decode.ts";
import { isJsonObject, type JsonObject, objectIn } from "./json.ts";
import { sameContent } from "./metadata.ts";
import { applyPatch } from "./patch.ts";
import { present, toStorage } from "./presentation.ts";
import { tableOf } from "./resource-type.ts";
import { keyOf } from "./storage/store.ts";
import { prepareUpdate } from "./update-preparation.ts";
import { validateUpdate } from "./validation.ts";
import { readWriteOptions, type WriteOptions } from "./write-options.ts";

const TRIES = 5;

/** Makes the new object from the stored one: a PUT brings it whole, a PATCH derives it. */
type Derive = (old: ApiObject) => { readonly object: ApiObject; readonly warnings: readonly string[] } | Refused;

interface Change {
  readonly core: Core;
  readonly request: ResourceRequest;
  readonly at: Located;
  readonly options: WriteOptions;
  readonly derive: Derive;
}

/** Replaces an object, or one of its subresources. */
export async function update(core: Core, request: ResourceRequest, at: Located): Promise<ApiReply> {
  const options = readWriteOptions(request.query, "UpdateOptions");
  if (isRefused(options)) return reply(options.refused);
  const read = readBody(request, at, options);
  if (isRefused(read)) return reply(read.refused);
  const problem = checkName(read.object, request);
  if (problem !== undefined) return reply(badRequest(problem));
  // Each try starts from the body as it came.
  const derive: Derive = () => ({
    object: { ...read.object, metadata: { ...read.object.metadata } },
    warnings: read.warnings,
  });
  return await change({ core, request, at, options, derive });
}

/** Patches an object, or one of its subresources. */
export async function patch(core: Core, request: ResourceRequest, at: Located): Promise<ApiReply> {
  const options = readWriteOptions(request.query, "PatchOptions");
  if (isRefused(options)) return reply(options.refused);
  const derive: Derive = (old) => {
    const patched = applyPatch(present(old, at), request.contentType, request.body, at.type.custom);
    return isRefused(patched) ? patched : readPatched(patched.value, request, at, options);
  };
  return await change({ core, request, at, options, derive });
}

function readPatched(value: unknown, request: ResourceRequest, at: Located, options: WriteOptions): ReturnType<Derive> {
  const patchProblem = (text: string): Refused => ({
    refused: invalidObject({ group: "", kind: "" }, "", [invalid("patch", JSON.stringify(value), text)]),
  });
  const decoded = decode(value, at.type, at.version);
  if ("status" in decoded) {
    return decoded.patchStatus === undefined ? patchProblem(decoded.wrong) : { refused: decoded.patchStatus };
  }
  const unknown = decoded.unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (options.fieldValidation === "Strict" && unknown.length > 0) {
    return patchProblem(`strict decoding error: ${unknown.join(", ")}`);
  }
  const problem = checkName(decoded.object, request);
  if (problem !== undefined) return { refused: badRequest(problem) };
  return { object: decoded.object, warnings: options.fieldValidation === "Warn" ? unknown : [] };
}

function checkName(object: ApiObject, request: ResourceRequest): string | undefined {
  const wanted = request.name ?? "";
  const name = object.metadata.name ?? "";
  if (name === "") return `the name of the object (${wanted} based on URL) was undeterminable: name must be provided`;
  if (name !== wanted) return `the name of the object (${name}) does not match the name on the URL (${wanted})`;
  const namespace = object.metadata.namespace ?? "";
  if (request.namespace === undefined || namespace === "" || namespace === request.namespace) return undefined;
  return "the namespace of the provided object does not match the namespace sent on the request";
}

/**
 * Tries until the stored object stood still while admission looked at the new one.
 *
 *     read old ---- derive, admission (may wait for a webhook) ---- old still stored? -- yes --> store
 *         ^                                                              |
 *         +---------------- no: another write came between --------------+
 *
 * A change that names a resourceVersion finds out in the next round that it is no longer the stored one.
 */
async function change(what: Change): Promise<ApiReply> {
  const { core, request, at } = what;
  const name = request.name ?? "";
  const table = tableOf(at.type);
  const key = keyOf(request.namespace, name);
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const old = core.store.get(table, key);
    if (old === undefined) return await createInstead(what);
    const warnings: string[] = [];
    const next = await changeOnce(what, old, warnings);
    if (isRefused(next)) return withWarnings(reply(next.refused), warnings);
    if (core.store.get(table, key) !== old) continue;
    return withWarnings({ code: 200, body: present(store(what, table, key, { old, next }), at) }, warnings);
  }
  return reply(conflict(at.type, name, MODIFIED));
}

/** Some built-in types are made by an update of what is not there. */
async function createInstead({ core, request, at }: Change): Promise<ApiReply> {
  const makes =
    at.type.strategy.createOnUpdate === true && request.verb === "update" && request.subresource === undefined;
  if (!makes) return reply(notFound(at.type, request.name ?? ""));
  const { uid } = metadataOf(request.body);
  if (typeof uid === "string" && uid !== "") {
    return reply(
      conflict(at.type, request.name ?? "", wrongUid(at, keyOf(request.namespace, request.name ?? ""), uid, "")),
    );
  }
  return await create(core, { ...request, body: withoutResourceVersion(request.body) }, at);
}

function metadataOf(body: unknown): JsonObject {
  return isJsonObject(body) ? objectIn(body, "metadata") : {};
}

function withoutResourceVersion(body: unknown): unknown {
  if (!isJsonObject(body)) return body;
  const { resourceVersion: _resourceVersion, ...metadata } = metadataOf(body);
  return { ...body, metadata };
}

async function changeOnce(what: Change, old: ApiObject, warnings: string[]): Promise<ApiObject | Refused> {
  const { core, request, at, options } = what;
  const derived = what.derive(old);
  if (isRefused(derived)) return derived;
  warnings.push(...derived.warnings);
  const shownOld = present(old, at);
  const write: Admitted = { core, request, at, dryRun: options.dryRun, operation: "UPDATE", warnings };
  const mutated = await mutate(write, derived.object, shownOld);
  if (isRefused(mutated)) return mutated;
  const stale = checkPreconditions(mutated, old, at, request.verb === "update");
  if (stale !== undefined) return stale;
  const prepared = prepareUpdate(core, request, at, { object: mutated, old: shownOld });
  if (isRefused(prepared)) return prepared;
  const errors = validateUpdate(core, at, prepared, shownOld, request.user);
  if (errors.length > 0) return { refused: invalidObject(at.type, request.name ?? "", errors) };
  at.type.strategy.canonicalize?.(prepared);
  const denied = await validateByAdmission(write, prepared, shownOld);
  return denied ?? prepared;
}

function checkPreconditions(object: ApiObject, old: ApiObject, at: Located, whole: boolean): Refused | undefined {
  const { type } = at;
  const name = old.metadata.name ?? "";
  const { uid, resourceVersion } = object.metadata;
  if (whole && uid !== undefined && uid !== old.metadata.uid) {
    const why = wrongUid(at, keyOf(old.metadata.namespace, name), uid, old.metadata.uid ?? "");
    return { refused: conflict(type, name, why) };
  }
  if (resourceVersion === undefined || resourceVersion === "0") {
    if (type.strategy.unconditionalUpdate) return undefined;
    const body = "Invalid value: 0: must be specified for an update";
    const error = { type: "FieldValueInvalid", field: "metadata.resourceVersion", body } as const;
    return { refused: invalidObject({ group: type.group, kind: type.resource }, name, [error]) };
  }
  if (!/^\d+$/.test(resourceVersion)) {
    return {
      refused: failure(500, "", `strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`),
    };
  }
  return resourceVersion === old.metadata.resourceVersion ? undefined : { refused: conflict(type, name, MODIFIED) };
}

/** The storage's words about a uid that is not the stored one. */
function wrongUid({ type }: Located, key: string, wanted: string, found: string): string {
  const path = `/registry/${type.custom ? `${type.group}/` : ""}${type.resource}/${key}`;
  const words = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
  return `StorageError: invalid object, Code: 4, Key: ${path}, ResourceVersion: 0, AdditionalErrorMsg: ${words}`;
}

/** Stores the new object, or removes it when its last finalizer has gone. What changes nothing is not stored. */
function store(what: Change, table: string, key: string, change: { old: ApiObject; next: ApiObject }): ApiObject {
  const { core, at, options } = what;
  const { old } = change;
  const next = toStorage(change.next, at);
  const gone = next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0;
  const terminating = at.type.strategy.outlivesFinalizers?.(next) ?? false;
  if (gone && !terminating) return options.dryRun ? next : (core.store.remove(table, key, next) ?? next);
  if (sameContent(next, old)) return old;
  return options.dryRun ? next : core.store.put(table, next);
}
