import { IMPORT_KINDS } from "./kinds.ts";
import type { ImportKind, ImportRequest, ImportSettings, Judgement } from "./reconciler.ts";
import type { ResourceImport } from "./resource-import.ts";

/** What is to become of one import, before anything in the member is looked at. */
export type Intent =
  | { readonly kind: "install"; readonly of: ImportKind; readonly wanted: ResourceImport }
  | { readonly kind: "remove"; readonly because: string | undefined }
  | Judgement;

/** Kinds that Antrea declares and no member installs. */
const UNUSED_KINDS = new Set(["ExternalEntity", "Raw"]);

/** Pure: the import as the leader has it, and what the membership allows. */
export function decideIntent({ wanted }: Pick<ImportRequest, "wanted">, settings: ImportSettings): Intent {
  if (wanted === undefined) return { kind: "remove", because: undefined };
  const { kind, clusterIDs } = wanted;
  if (clusterIDs.length > 0 && !clusterIDs.includes(settings.clusterID)) {
    return { kind: "remove", because: `spec.clusterID of the import names other clusters, not ${settings.clusterID}` };
  }
  const of = IMPORT_KINDS.get(kind);
  if (of === undefined) return unsupported(kind);
  if (kind === "LabelIdentity" && !settings.labelIdentities) {
    const because = "LabelIdentities are imported where antrea.imports.labelIdentities of the membership is true";
    return { kind: "leave", state: "Excluded", because };
  }
  const refused = refusedNamespace(wanted, of, settings);
  if (refused !== undefined) return { kind: "remove", because: refused };
  return of.judge(wanted, settings) ?? { kind: "install", of, wanted };
}

function unsupported(kind: string): Intent {
  if (kind === "") return { kind: "leave", state: "Invalid", because: "the import has no spec.kind" };
  const because = UNUSED_KINDS.has(kind)
    ? `imports of kind ${kind} are not used by Antrea`
    : `kind ${kind} is not known`;
  return { kind: "leave", state: "Unsupported", because };
}

/**
 * Namespaces whose names begin with `kube-` are kept by Kubernetes for itself: a Service there could stand in for one of
 * the cluster's own, so they are written to only where the membership names them.
 */
function refusedNamespace(wanted: ResourceImport, of: ImportKind, settings: ImportSettings): string | undefined {
  const { specNamespace } = wanted;
  if (specNamespace === "" || !NAMESPACED.has(of.kind)) return undefined;
  const { namespaces } = settings;
  if (namespaces !== undefined) {
    if (namespaces.includes(specNamespace)) return undefined;
    return `Namespace ${specNamespace} is not among antrea.imports.namespaces of the membership`;
  }
  if (!specNamespace.startsWith("kube-")) return undefined;
  return `Namespace ${specNamespace} belongs to Kubernetes: name it in antrea.imports.namespaces to import into it`;
}

/** Kinds whose objects lie in the Namespace that the import names. */
const NAMESPACED = new Set(["ServiceImport", "Endpoints"]);
