import { observeEndpoints } from "./controllers/endpoints-controller.ts";
import { GarbageCollector } from "./controllers/garbage-collector.ts";
import type { Core } from "./core.ts";
import { emptyDefinition } from "./crd/finalizer.ts";
import { emptyNamespace } from "./namespace-controller.ts";
import type { StoredEvent } from "./storage/store.ts";

const NAMESPACES = "/namespaces";
const DEFINITIONS = "apiextensions.k8s.io/customresourcedefinitions";

/** One round of one controller. */
type Round = () => void;

/**
 * The controllers without which no cluster looks alive: Namespaces and definitions are emptied before they go, what
 * nobody owns is deleted, Services have their Endpoints and slices. A round comes `roundMs` after what calls for it, so that the state before can be seen.
 */
export function startLifecycle(core: Core, roundMs: number): { close(): void } {
  const stop = new AbortController();
  const waiting = new Set<string>();
  const later = (key: string, round: Round): void => {
    if (waiting.has(key) || stop.signal.aborted) return;
    waiting.add(key);
    void core.clock.sleep(roundMs, stop.signal).then(() => {
      waiting.delete(key);
      if (!stop.signal.aborted) round();
    });
  };
  const garbage = new GarbageCollector(core);
  core.store.observe((event) => {
    observe(core, event, later);
    garbage.observe(event, later);
    observeEndpoints(core, event, later);
  });
  return { close: () => stop.abort() };
}

function observe(core: Core, event: StoredEvent, later: (key: string, round: Round) => void): void {
  const { name = "", namespace, deletionTimestamp } = event.object.metadata;
  const stays = event.type !== "DELETED";
  if (event.table === NAMESPACES && stays && deletionTimestamp !== undefined) {
    later(`namespace ${name}`, () => emptyNamespace(core, name));
  }
  if (event.table === DEFINITIONS && stays && deletionTimestamp !== undefined) {
    later(`definition ${name}`, () => emptyDefinition(core, name));
  }
  if (stays) return;
  if (namespace !== undefined && core.store.get(NAMESPACES, namespace)?.metadata.deletionTimestamp !== undefined) {
    later(`namespace ${namespace}`, () => emptyNamespace(core, namespace));
  }
  const [group = "", resource = ""] = event.table.split("/");
  const definition = `${resource}.${group}`;
  if (core.store.get(DEFINITIONS, definition)?.metadata.deletionTimestamp !== undefined) {
    later(`definition ${definition}`, () => emptyDefinition(core, definition));
  }
}
