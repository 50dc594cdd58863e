import type { KubeObject } from "../../kube/client.ts";
import type { ImportRecord } from "../../state/imports.ts";

/** The annotation of imported Services, Endpoints and, by us, ServiceImports. Its presence counts, not its value. */
export const IMPORTED_SERVICE = "multicluster.antrea.io/imported-service";

/** The same of imported policies. */
export const IMPORTED_POLICY = "multicluster.antrea.io/imported-acnp";

/**
 * The annotation by which a Service of ours is told from one of the in-cluster agent's. That agent marks no ServiceImport,
 * we mark all: an unmarked one beside a Service of ours is a user's, also when we were interrupted before we made our own.
 */
export const MADE_BY = { key: "app.kubernetes.io/managed-by", value: "hawser" } as const;

/** Whether the object carries the importer's marker: who takes it off takes the object over. */
export function isMarked({ metadata }: KubeObject, marker: string): boolean {
  return Object.hasOwn(metadata.annotations ?? {}, marker);
}

/** What marked objects are about: their names without the prefix. */
export function markedTargets(
  objects: readonly KubeObject[],
  marker: string,
  prefix: string,
): readonly ImportRecord["target"][] {
  return objects
    .filter((object) => isMarked(object, marker) && object.metadata.name?.startsWith(prefix) === true)
    .map(({ metadata: { name = "", namespace } }) => ({
      ...(namespace === undefined ? {} : { namespace }),
      name: name.slice(prefix.length),
    }));
}

/** Whether it stands in the record as one that the import made: its UID, not only its name. */
export function isRecorded({ metadata }: KubeObject, record: Pick<ImportRecord, "objects"> | undefined): boolean {
  return metadata.uid !== undefined && record?.objects.some(({ uid }) => uid === metadata.uid) === true;
}

/** Whether it is on its way out, and only its finalizers keep it. */
export function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
