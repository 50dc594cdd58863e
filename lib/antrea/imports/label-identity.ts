import type { ObjectRef } from "../../kube/client.ts";
import type { ImportRecord } from "../../state/imports.ts";
import { sameMeaning } from "./canonical.ts";
import { importedObject, LABEL_IDENTITIES, memberRef } from "./member-resources.ts";
import { invalid, planDeletes, planOne } from "./plans.ts";
import type { ImportKind } from "./reconciler.ts";
import { isRecord, type ResourceImport } from "./resource-import.ts";

/**
 * `LabelIdentity`: the number that stands for a set of labels between clusters, as a LabelIdentity of the import's own
 * name. Nobody but the importer makes objects of this kind, so none carries a marker. Number and label are both kept as
 * the import says them; the leader may give a label another number.
 */
export const labelIdentity: ImportKind = {
  kind: "LabelIdentity",
  target: ({ name }) => ({ name }),
  judge: (wanted) =>
    invalid(payload(wanted) === undefined ? "the import has no labelIdentity with a label and an id" : undefined),
  looksAt: ({ target }) => [refTo(target)],
  targetsOf: (objects) => objects.all(LABEL_IDENTITIES).map(({ metadata }) => ({ name: metadata.name ?? "" })),
  owned: ({ target, observed }) => {
    const seen = observed.read(refTo(target));
    return seen === undefined ? [] : [importedObject(LABEL_IDENTITIES, seen)];
  },
  plan: ({ wanted, observed, settings }) => {
    const ref = refTo(labelIdentity.target(wanted, settings));
    const seen = observed.read(ref);
    const spec = payload(wanted) ?? {};
    return planOne({ type: LABEL_IDENTITIES, ref, seen, spec, same: sameMeaning(spec, seen?.["spec"]) });
  },
  planRemoval: ({ target, record, observed }) => {
    const ref = refTo(target);
    return planDeletes([{ type: LABEL_IDENTITIES, ref, object: observed.read(ref), marker: undefined }], record);
  },
};

function payload({ spec }: ResourceImport): Readonly<Record<string, unknown>> | undefined {
  const identity = spec["labelIdentity"];
  if (!isRecord(identity)) return undefined;
  const { label, id } = identity;
  return typeof label === "string" && typeof id === "number" ? { label, id } : undefined;
}

function refTo({ name }: ImportRecord["target"]): ObjectRef {
  return memberRef(LABEL_IDENTITIES, name);
}
