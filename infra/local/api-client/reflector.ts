import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient, ApiRecord } from "./api-client.ts";

/** What a reflector tells its owner; calls are made one after the other. */
export interface ReflectorHandler {
  /** An object appeared or changed; also for each object of a list. */
  changed(object: ApiRecord): Promise<void>;
  /** An object is gone. */
  deleted(object: ApiRecord): Promise<void>;
}

const RETRY_MS = 1_000;

/** Follows one collection by list and watch until `signal` fires; a lost watch is resumed, a refused one lists again. */
export async function reflect(
  client: ApiClient,
  path: string,
  handler: ReflectorHandler,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  let known = new Map<string, ApiRecord>();
  while (!signal.aborted) {
    try {
      const list = await client.request("GET", path);
      if (list.code !== 200) throw new Error(`list ${path}: ${list.code} ${list.body.message ?? ""}`);
      known = await takeList(list.body.items ?? [], known, handler);
      const state = { known, version: list.body.metadata.resourceVersion ?? "0" };
      await follow(client, path, state, handler, signal);
    } catch (error) {
      if (signal.aborted) return;
      console.error(
        JSON.stringify({ level: "warn", message: "a local controller lost its watch", path, error: String(error) }),
      );
    }
    await clock.sleep(RETRY_MS, signal);
  }
}

async function takeList(
  items: readonly ApiRecord[],
  before: ReadonlyMap<string, ApiRecord>,
  handler: ReflectorHandler,
): Promise<Map<string, ApiRecord>> {
  const now = new Map(items.map((item) => [keyOf(item), item]));
  for (const [key, item] of before) if (!now.has(key)) await handler.deleted(item);
  for (const item of now.values()) await handler.changed(item);
  return now;
}

/** Watches from `state.version` on, again and again, until the server says that it cannot. */
async function follow(
  client: ApiClient,
  path: string,
  state: { readonly known: Map<string, ApiRecord>; version: string },
  handler: ReflectorHandler,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const query = `?watch=true&allowWatchBookmarks=true&timeoutSeconds=300&resourceVersion=${state.version}`;
    for await (const event of client.watch(path + query, signal)) {
      if (event.type === "ERROR") return;
      state.version = event.object.metadata.resourceVersion ?? state.version;
      if (event.type === "BOOKMARK") continue;
      if (event.type === "DELETED") {
        state.known.delete(keyOf(event.object));
        await handler.deleted(event.object);
      } else {
        state.known.set(keyOf(event.object), event.object);
        await handler.changed(event.object);
      }
    }
  }
}

function keyOf(object: ApiRecord): string {
  return `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
}
