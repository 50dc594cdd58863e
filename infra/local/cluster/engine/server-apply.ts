import { describeFieldError } from "../field-error.ts";
import type { ApiObject, UserInfo } from "../types.ts";
import { type Core, strategyContext, timestamp } from "./core.ts";
import { decode } from "./decode.ts";
import { cloneJson, isJsonObject, textIn } from "./json.ts";
import { sameContent } from "./metadata.ts";
import { toStorage } from "./presentation.ts";
import { tableOf } from "./resource-type.ts";
import { keyOf } from "./storage/store.ts";
import { validateCreate } from "./validation.ts";

const SERVER: UserInfo = { username: "system:apiserver", groups: ["system:masters"] };
const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Makes or replaces an object as the server itself: no authorisation, no admission; the status is stored as given. */
export function serverApply(core: Core, body: unknown): ApiObject {
  if (!isJsonObject(body)) throw new Error("an object to apply must be a JSON object");
  const apiVersion = textIn(body, "apiVersion");
  const kind = textIn(body, "kind");
  const [group, version] = apiVersion.includes("/") ? split(apiVersion) : ["", apiVersion];
  const at = core.registry.locateKind(group, version, kind);
  if (at === undefined) throw new Error(`${apiVersion} ${kind} is not served; apply its definition first`);
  const decoded = decode(cloneJson(body), at.type, at.version);
  if ("status" in decoded) throw new Error(`${kind} cannot be applied: ${decoded.wrong}`);
  const { object } = decoded;
  if (!at.type.namespaced) delete object.metadata.namespace;
  else object.metadata.namespace ??= "default";
  const table = tableOf(at.type);
  const old = core.store.get(table, keyOf(object.metadata.namespace, object.metadata.name ?? ""));
  fillMetadata(core, object, old, at.type.strategy.generation !== "none");
  const status = object["status"];
  const refused =
    old === undefined
      ? at.type.strategy.prepareCreate?.(object, strategyContext(core, SERVER))
      : at.type.strategy.prepareUpdate?.(object, old, strategyContext(core, SERVER));
  if (refused !== undefined) throw new Error(`${kind} cannot be applied: ${refused.message}`);
  // Manifests of definitions carry an empty status that generators left; the server's own is the true one.
  const given = isJsonObject(status) && Object.keys(status).length > 0;
  if (given && at.type.kind !== "CustomResourceDefinition") object["status"] = status;
  else if (old?.["status"] !== undefined && at.version.subresources.has("status")) object["status"] = old["status"];
  const errors = validateCreate(core, at, object, SERVER);
  if (errors.length > 0)
    throw new Error(
      `${kind} ${object.metadata.name ?? ""} cannot be applied: ${errors.map(describeFieldError).join(", ")}`,
    );
  at.type.strategy.canonicalize?.(object);
  const stored = toStorage(object, at);
  if (old === undefined) return core.store.put(table, stored);
  if (sameContent(stored, old)) return old;
  if (object.metadata.generation !== undefined) object.metadata.generation += 1;
  return core.store.put(table, stored);
}

function split(apiVersion: string): [string, string] {
  const at = apiVersion.lastIndexOf("/");
  return [apiVersion.slice(0, at), apiVersion.slice(at + 1)];
}

function fillMetadata(core: Core, object: ApiObject, old: ApiObject | undefined, counted: boolean): void {
  const meta = object.metadata;
  delete meta.resourceVersion;
  meta.uid = old?.metadata.uid ?? meta.uid ?? core.ids.uuid();
  meta.creationTimestamp = old?.metadata.creationTimestamp ?? timestamp(core.clock);
  if (counted) meta.generation = old?.metadata.generation ?? 1;
}

/** The Namespaces of a new cluster. */
export function seedCluster(core: Core): void {
  for (const name of NAMESPACES) serverApply(core, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}
