import type { ApiObject } from "../../types.ts";
import type { Core } from "../core.ts";
import { isJsonObject, objectIn, textIn } from "../json.ts";
import { customResource } from "./custom-resource.ts";

const TABLE = "apiextensions.k8s.io/customresourcedefinitions";

/** Serves what definitions define, from the moment they are stored, and stops with their removal. */
export function serveDefinitions(core: Core): void {
  core.store.observe((event) => {
    if (event.table !== TABLE) return;
    if (event.type !== "DELETED") core.registry.add(customResource(event.object));
    else stopServing(core, event.object);
  });
}

/** Makes the served resources those of the stored definitions, after a restore. */
export function serveStoredDefinitions(core: Core): void {
  for (const type of core.registry.all()) if (type.custom) core.registry.remove(type.group, type.resource);
  for (const definition of core.store.list(TABLE)) core.registry.add(customResource(definition));
}

function stopServing(core: Core, definition: ApiObject): void {
  const spec = objectIn(definition, "spec");
  const names = spec["names"];
  const group = textIn(spec, "group");
  const resource = isJsonObject(names) ? textIn(names, "plural") : "";
  core.registry.remove(group, resource);
  core.store.endWatches(`${group}/${resource}`);
}
