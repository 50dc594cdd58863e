import { type Core, timestamp } from "./core.ts";
import { take } from "./delete.ts";
import { tableOf } from "./resource-type.ts";
import { keyOf } from "./storage/store.ts";

/** Deletes what a terminating Namespace holds, and the Namespace when nothing is left. */
export function emptyNamespace(core: Core, name: string): void {
  const namespace = core.store.get("/namespaces", name);
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  let held = 0;
  for (const type of core.registry.all()) {
    const version = type.versions.find((v) => v.served) ?? type.versions[0];
    if (!type.namespaced || version === undefined) continue;
    for (const object of core.store.list(tableOf(type), name)) {
      const key = keyOf(name, object.metadata.name ?? "");
      if (!take(core, { type, version }, { key, old: object, dryRun: false }).gone) held += 1;
    }
  }
  if (held === 0 && (namespace.metadata.finalizers ?? []).length === 0) {
    core.store.remove("/namespaces", name);
    return;
  }
  reportContent(core, name, held);
}

/** Tells in the Namespace's conditions what it waits for; once, as long as it waits for the same. */
function reportContent(core: Core, name: string, held: number): void {
  const namespace = core.store.get("/namespaces", name);
  if (namespace === undefined || held === 0) return;
  const message = `Some content in the namespace has finalizers remaining: ${held} objects`;
  const before = JSON.stringify(namespace["status"]);
  if (before.includes(message)) return;
  const condition = {
    type: "NamespaceFinalizersRemaining",
    status: "True",
    lastTransitionTime: timestamp(core.clock),
    reason: "SomeFinalizersRemain",
    message,
  };
  core.store.put("/namespaces", { ...namespace, status: { phase: "Terminating", conditions: [condition] } });
}
