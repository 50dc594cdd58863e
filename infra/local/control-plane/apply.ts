import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient } from "../api-client/api-client.ts";
import { readManifests } from "../cluster/manifests.ts";
import type { ApiObject } from "../cluster/types.ts";

/** How long a new resource may take until it is served, in milliseconds. */
const SERVED_LIMIT_MS = 30_000;
const LOOK_MS = 100;

/** Where an applied object lies, and whether it was made by that. */
export interface Applied {
  readonly path: string;
  readonly created: boolean;
}

/**
 * Applies the objects of a YAML text by server-side apply, as `kubectl apply --server-side --force-conflicts` does.
 * Waits for the resources of CustomResourceDefinitions to be served.
 * @throws when the server refuses one
 */
export async function applyManifests(client: ApiClient, clock: Clock, yamlText: string): Promise<readonly Applied[]> {
  const applied: Applied[] = [];
  for (const object of readManifests(yamlText)) applied.push(await applyObject(client, clock, object as ApiObject));
  return applied;
}

async function applyObject(client: ApiClient, clock: Clock, object: ApiObject): Promise<Applied> {
  const name = object.metadata.name ?? "";
  const what = `${object.kind} ${name}`;
  const resource = await eventually(clock, `${what}: its resource`, () => findResource(client, object));
  const namespace = resource.namespaced ? `/namespaces/${object.metadata.namespace ?? "default"}` : "";
  const path = `${groupPath(object.apiVersion)}${namespace}/${resource.name}/${name}`;
  const query = "?fieldManager=hawser-local&force=true";
  const answer = await client.request("PATCH", path + query, object, "application/apply-patch+yaml");
  if (answer.code >= 300) {
    throw new Error(`${client.server} refuses ${what}: ${answer.code} ${answer.body.message ?? ""}`);
  }
  if (object.kind === "CustomResourceDefinition") await untilServed(client, clock, object);
  return { path, created: answer.code === 201 };
}

/** A definition is established before all of the server knows it: first it answers 404, then 429. */
async function untilServed(client: ApiClient, clock: Clock, definition: ApiObject): Promise<void> {
  const { group, names, versions } = definition["spec"] as {
    group: string;
    names: { plural: string };
    versions: { name: string; served: boolean }[];
  };
  for (const { name } of versions.filter((version) => version.served)) {
    const path = `/apis/${group}/${name}/${names.plural}`;
    await eventually(clock, `${path} to be served`, async () => {
      const { code } = await client.request("GET", `${path}?limit=1`);
      return code === 200 ? true : undefined;
    });
  }
}

interface Resource {
  readonly name: string;
  readonly namespaced: boolean;
}

async function findResource(client: ApiClient, object: ApiObject): Promise<Resource | undefined> {
  const { code, body } = await client.request("GET", groupPath(object.apiVersion));
  if (code !== 200) return undefined;
  const resources = (body["resources"] ?? []) as { name: string; kind: string; namespaced: boolean }[];
  const found = resources.find((r) => r.kind === object.kind && !r.name.includes("/"));
  return found === undefined ? undefined : { name: found.name, namespaced: found.namespaced };
}

function groupPath(apiVersion: string): string {
  return apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

/** Asks until there is an answer; a bounded time. */
export async function eventually<T>(clock: Clock, what: string, ask: () => Promise<T | undefined>): Promise<T> {
  const limit = clock.monotonicMs() + SERVED_LIMIT_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (clock.monotonicMs() > limit) throw new Error(`waited ${SERVED_LIMIT_MS / 1_000} s for ${what}`);
    await clock.sleep(LOOK_MS);
  }
}
