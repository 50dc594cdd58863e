import {
  alreadyExists,
  badRequest,
  failure,
  generateNameConflict,
  invalidObject,
  reply,
  unsupportedMediaType,
} from "../status.ts";
import type { ApiObject, ApiReply, ResourceRequest } from "../types.ts";
import { type Admitted, mutate, validateByAdmission } from "./admit.ts";
import { type Core, isRefused, type Located, type Refused, strategyContext, timestamp, withWarnings } from "./core.ts";
import { decode } from "./decode.ts";
import { generatedName } from "./generated-name.ts";
import { cloneJson } from "./json.ts";
import { checkNamespace } from "./namespace-lifecycle.ts";
import { present, toStorage } from "./presentation.ts";
import { tableOf } from "./resource-type.ts";
import { keyOf } from "./storage/store.ts";
import { validateCreate } from "./validation.ts";
import { readWriteOptions, type WriteOptions } from "./write-options.ts";

const BODY_TYPES = ["application/json", "application/yaml"];
const NAME_TRIES = 8;

/** Makes an object. */
export async function create(core: Core, request: ResourceRequest, at: Located): Promise<ApiReply> {
  const options = readWriteOptions(request.query, "CreateOptions");
  if (isRefused(options)) return reply(options.refused);
  const read = readBody(request, at, options);
  if (isRefused(read)) return reply(read.refused);
  const { warnings } = read;
  const write: Admitted = { core, request, at, dryRun: options.dryRun, operation: "CREATE", warnings };
  const made = await createObject(write, read.object);
  return withWarnings(isRefused(made) ? reply(made.refused) : { code: 201, body: present(made, at) }, warnings);
}

/** A body of a create or update, with warnings about fields that were dropped. */
export interface ReadBody {
  readonly object: ApiObject;
  readonly warnings: string[];
}

/** Reads the body of a create or update; `fieldValidation=Strict` refuses unknown fields. */
export function readBody(request: ResourceRequest, at: Located, options: WriteOptions): ReadBody | Refused {
  const { contentType } = request;
  if (contentType !== undefined && contentType !== "" && !BODY_TYPES.includes(contentType)) {
    return { refused: unsupportedMediaType() };
  }
  const decoded = decode(cloneJson(request.body), at.type, at.version);
  if ("status" in decoded) return { refused: decoded.status };
  const unknown = decoded.unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (options.fieldValidation === "Strict" && unknown.length > 0) {
    const { kind } = at.type;
    const head = `${kind} in version ${JSON.stringify(at.version.name)} cannot be handled as a ${kind}`;
    return { refused: badRequest(`${head}: strict decoding error: ${unknown.join(", ")}`) };
  }
  const warnings = options.fieldValidation === "Warn" ? [...unknown] : [];
  const mismatch = fitNamespace(decoded.object, request, at);
  return mismatch ?? { object: decoded.object, warnings };
}

/** The object's namespace must be that of the request; where it is left out, it is filled in. */
function fitNamespace(object: ApiObject, request: ResourceRequest, at: Located): Refused | undefined {
  const wanted = at.type.namespaced ? (request.namespace ?? "") : "";
  const found = object.metadata.namespace ?? "";
  if (found !== "" && wanted !== "" && found !== wanted) {
    const words = "the namespace of the provided object does not match the namespace sent on the request";
    return { refused: badRequest(words) };
  }
  if (wanted === "") delete object.metadata.namespace;
  else object.metadata.namespace = wanted;
  return undefined;
}

/** Makes an object through admission and validation; a generated name that is taken is generated again. */
async function createObject(write: Admitted, read: ApiObject): Promise<ApiObject | Refused> {
  const generateName = read.metadata.generateName ?? "";
  if ((read.metadata.name ?? "") !== "" || generateName === "") return await createOnce(write, read);
  let result: ApiObject | Refused | undefined;
  for (let attempt = 0; attempt < NAME_TRIES; attempt += 1) {
    const name = generatedName(generateName, write.core.random);
    result = await createOnce(write, { ...cloneJson(read), metadata: { ...cloneJson(read.metadata), name } });
    if (!isRefused(result) || result.refused.reason !== "AlreadyExists") return result;
    result = { refused: generateNameConflict(write.at.type, name) };
  }
  return result ?? { refused: generateNameConflict(write.at.type, generateName) };
}

async function createOnce(write: Admitted, object: ApiObject): Promise<ApiObject | Refused> {
  const { core, request, at } = write;
  const problem = initialise(core, object);
  if (problem !== undefined) return problem;
  const homeless = checkNamespace(core, at, object);
  if (homeless !== undefined) return homeless;
  const mutated = await mutate(write, object);
  if (isRefused(mutated)) return mutated;
  const unprepared = prepare(write, mutated);
  if (unprepared !== undefined) return unprepared;
  const errors = validateCreate(core, at, mutated, request.user);
  const name = mutated.metadata.name ?? "";
  if (errors.length > 0) return { refused: invalidObject(at.type, name, errors) };
  at.type.strategy.canonicalize?.(mutated);
  const denied = await validateByAdmission(write, mutated);
  if (denied !== undefined) return denied;
  const table = tableOf(at.type);
  const taken = core.store.get(table, keyOf(mutated.metadata.namespace, name));
  if (taken !== undefined)
    return { refused: alreadyExists(at.type, name, taken.metadata.deletionTimestamp !== undefined) };
  const stored = toStorage(mutated, at);
  return write.dryRun ? stored : core.store.put(table, stored);
}

/** Server-made metadata: what a client sent of it does not count. */
function initialise(core: Core, object: ApiObject): Refused | undefined {
  const meta = object.metadata;
  if (meta.resourceVersion !== undefined && meta.resourceVersion !== "0") {
    return { refused: failure(500, "", "resourceVersion should not be set on objects to be created") };
  }
  delete meta.resourceVersion;
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete meta.generation;
  meta.uid = core.ids.uuid();
  meta.creationTimestamp = timestamp(core.clock);
  return undefined;
}

function prepare(write: Admitted, object: ApiObject): Refused | undefined {
  const { at, core, request } = write;
  const { strategy } = at.type;
  if (at.version.subresources.has("status") && at.type.custom) delete object["status"];
  if (strategy.generation !== "none") object.metadata.generation = 1;
  const refused = strategy.prepareCreate?.(object, strategyContext(core, request.user));
  return refused === undefined ? undefined : { refused };
}
