import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient } from "../api-client/api-client.ts";
import { readManifests } from "../cluster/manifests.ts";
import type { ApiObject } from "../cluster/types.ts";

/** How long a new resource may take until it is served, in milliseconds. */
const SERVED_LIMIT_MS = 30_000;
const LOOK_MS = 100;

/**
 * Applies the objects of a YAML text by server-side apply, as `kubectl apply --server-side --force-conflicts` does.
 * Waits for the resources of CustomResourceDefinitions to be served.
 * @throws when the server refuses one
 */
export async function applyManifests(client: ApiClient, clock: Clock, yamlText: string): Promise<void> {
  for (const object of readManifests(yamlText)) await applyObject(client, clock, object as ApiObject);
}

async function applyObject(client: ApiClient, clock: Clock, object: ApiObject): Promise<void> {
  const name = object.metadata.name ?? "";
  const what = `${object.kind} ${name}`;
  const resource = await eventually(clock, `${what}: its resource`, () => findResource(client, object));
  const group = groupPath(object.apiVersion);
  const namespace = resource.namespaced ? `/namespaces/${object.metadata.namespace ?? "default"}` : "";
  const path = `${group}${namespace}/${resource.name}/${name}`;
  const query = "?fieldManager=hawser-local&force=true";
  await eventually(clock, `${what}: its storage`, async () => {
    const answer = await client.request("PATCH", path + query, object, "application/apply-patch+yaml");
    if (answer.code < 300) return true;
    // A definition that was made just now is in the discovery before all of the server knows it.
    if (answer.code === 404 && resource.custom) return undefined;
    throw new Error(`${client.server} refuses ${what}: ${answer.code} ${answer.body.message ?? ""}`);
  });
  if (object.kind === "CustomResourceDefinition") {
    await eventually(clock, `${what} to be established`, async () => {
      const { body } = await client.request("GET", path);
      // Null for a moment after the definition was made.
      const status = body["status"] as { conditions?: { type: string; status: string }[] | null } | undefined;
      return status?.conditions?.some((c) => c.type === "Established" && c.status === "True") ? true : undefined;
    });
  }
}

interface Resource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly custom: boolean;
}

async function findResource(client: ApiClient, object: ApiObject): Promise<Resource | undefined> {
  const { code, body } = await client.request("GET", groupPath(object.apiVersion));
  if (code !== 200) return undefined;
  const resources = (body["resources"] ?? []) as { name: string; kind: string; namespaced: boolean }[];
  const found = resources.find((r) => r.kind === object.kind && !r.name.includes("/"));
  const group = object.apiVersion.split("/")[0] ?? "";
  const custom = group.includes(".") && !group.endsWith(".k8s.io");
  return found === undefined ? undefined : { name: found.name, namespaced: found.namespaced, custom };
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
