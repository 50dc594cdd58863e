import type { Core } from "../core.ts";
import { take } from "../delete.ts";
import { tableOf } from "../resource-type.ts";
import { keyOf } from "../storage/store.ts";
import { customResource } from "./custom-resource.ts";
import { CLEANUP_FINALIZER } from "./definition.ts";

const TABLE = "apiextensions.k8s.io/customresourcedefinitions";

/** Deletes all objects of a definition that is being deleted, and the definition when none is left. */
export function emptyDefinition(core: Core, name: string): void {
  const definition = core.store.get(TABLE, name);
  if (definition?.metadata.deletionTimestamp === undefined) return;
  const type = customResource(definition);
  const version = type.versions[0];
  if (version === undefined) return;
  let held = 0;
  for (const object of core.store.list(tableOf(type))) {
    const key = keyOf(object.metadata.namespace, object.metadata.name ?? "");
    if (!take(core, { type, version }, { key, old: object, dryRun: false }).gone) held += 1;
  }
  if (held > 0) return;
  const finalizers = (definition.metadata.finalizers ?? []).filter((f) => f !== CLEANUP_FINALIZER);
  if (finalizers.length === 0) core.store.remove(TABLE, name);
  else if (finalizers.length < (definition.metadata.finalizers ?? []).length) {
    core.store.put(TABLE, { ...definition, metadata: { ...definition.metadata, finalizers } });
  }
}
