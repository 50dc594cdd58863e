import type { ApiObject } from "../../types.ts";
import type { Core } from "../core.ts";
import { textIn } from "../json.ts";
import { tableOf } from "../resource-type.ts";
import { keyOf, type StoredEvent } from "../storage/store.ts";

/** Where an object lies. */
export interface StoredPlace {
  readonly table: string;
  readonly key: string;
}

/** Who is owned by whom, by UID; kept up to date by the store's events. */
export class Dependents {
  readonly #byOwner = new Map<string, Map<string, StoredPlace>>();

  /** Takes note of a change. */
  note({ type, table, key, object, previous }: StoredEvent): void {
    const place = { table, key };
    const name = `${table} ${key}`;
    for (const uid of ownerUids(previous)) this.#byOwner.get(uid)?.delete(name);
    if (type === "DELETED") return;
    for (const uid of ownerUids(object)) {
      const dependents = this.#byOwner.get(uid) ?? new Map<string, StoredPlace>();
      this.#byOwner.set(uid, dependents.set(name, place));
    }
  }

  of(uid: string | undefined): readonly StoredPlace[] {
    return uid === undefined ? [] : [...(this.#byOwner.get(uid)?.values() ?? [])];
  }
}

function ownerUids(object: ApiObject | undefined): readonly string[] {
  return (object?.metadata.ownerReferences ?? []).map((owner) => textIn(owner, "uid"));
}

/** True while at least one owner of the object is there and does not wait for its dependents to go. */
export function isKept(core: Core, object: ApiObject): boolean {
  const { namespace, ownerReferences = [] } = object.metadata;
  return ownerReferences.some((reference) => {
    const owner = ownerOf(core, reference, namespace);
    return owner !== undefined && !waitsForDependents(owner);
  });
}

/** The owner is being deleted in the foreground: its dependents go first. */
export function waitsForDependents({ metadata }: ApiObject): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes("foregroundDeletion");
}

function ownerOf(core: Core, reference: Record<string, unknown>, namespace: string | undefined): ApiObject | undefined {
  const [version = "", group = ""] = textIn(reference, "apiVersion").split("/").toReversed();
  const at = core.registry.locateKind(group, version, textIn(reference, "kind"));
  if (at === undefined) return undefined;
  const key = keyOf(at.type.namespaced ? namespace : undefined, textIn(reference, "name"));
  const found = core.store.get(tableOf(at.type), key);
  return found?.metadata.uid === reference["uid"] ? found : undefined;
}
