import { IMPORT_KINDS } from "./kinds.ts";
import type { ImportProgress, ImportSettings } from "./reconciler.ts";
import type { ResourceImport } from "./resource-import.ts";

/** What an import is about, as its record says it before the first write. */
export function plannedProgress(wanted: ResourceImport, settings: ImportSettings): ImportProgress {
  const { name, kind, specName, specNamespace } = wanted;
  const shown = { ...(specNamespace === "" ? {} : { namespace: specNamespace }), name: specName };
  const target = IMPORT_KINDS.get(kind)?.target(wanted, settings) ?? shown;
  return { name, kind, target, objects: [], state: "Pending" };
}
