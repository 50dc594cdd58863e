import type { ApiObject } from "../../types.ts";
import type { Core, Located } from "../core.ts";
import { take } from "../delete.ts";
import { textIn } from "../json.ts";
import type { StoredEvent } from "../storage/store.ts";
import { Dependents, isKept, type StoredPlace, waitsForDependents } from "./owners.ts";

type Later = (key: string, round: () => void) => void;

/**
 * Deletes what nobody owns any longer, as kube-controller-manager's garbage collector does: in the background, before the
 * owner (finalizer `foregroundDeletion`), or not at all (finalizer `orphan`).
 */
export class GarbageCollector {
  readonly #core: Core;
  readonly #dependents = new Dependents();

  constructor(core: Core) {
    this.#core = core;
  }

  observe(event: StoredEvent, later: Later): void {
    this.#dependents.note(event);
    const { uid, deletionTimestamp, finalizers = [], ownerReferences = [] } = event.object.metadata;
    const place = { table: event.table, key: event.key };
    if (event.type === "DELETED") {
      // Of most objects nobody is owned: no round is spent on them.
      const dependents = this.#dependents.of(uid);
      if (dependents.length > 0) later(`dependents of ${uid}`, () => this.#collect(dependents));
      for (const owner of ownerReferences) this.#ownerWaits(textIn(owner, "uid"), later);
      return;
    }
    if (
      deletionTimestamp !== undefined &&
      finalizers.some((name) => name === "orphan" || name === "foregroundDeletion")
    ) {
      later(`owner ${uid}`, () => this.#leave(place));
    }
    if (event.type === "ADDED" && ownerReferences.length > 0) later(`owned ${uid}`, () => this.#collect([place]));
  }

  /** An owner that waits looks again when one of its dependents has gone. */
  #ownerWaits(uid: string, later: Later): void {
    const place = this.#waiting.get(uid);
    if (place !== undefined) later(`owner ${uid}`, () => this.#leave(place));
  }

  readonly #waiting = new Map<string, StoredPlace>();

  #collect(places: readonly StoredPlace[]): void {
    for (const place of places) {
      const found = this.#find(place);
      if (found === undefined || found.object.metadata.deletionTimestamp !== undefined) continue;
      if ((found.object.metadata.ownerReferences ?? []).length === 0 || isKept(this.#core, found.object)) continue;
      take(this.#core, found.at, { key: place.key, old: found.object, dryRun: false });
    }
  }

  /** Lets an owner go when its dependents are dealt with. */
  #leave(place: StoredPlace): void {
    const owner = this.#find(place);
    if (owner === undefined || owner.object.metadata.deletionTimestamp === undefined) return;
    const { uid = "" } = owner.object.metadata;
    const dependents = this.#dependents.of(uid);
    if (waitsForDependents(owner.object)) {
      this.#collect(dependents);
      const blocking = this.#dependents.of(uid).filter((dependent) => this.#blocks(dependent, uid));
      if (blocking.length > 0) {
        this.#waiting.set(uid, place);
        return;
      }
      this.#waiting.delete(uid);
    } else this.#orphan(dependents, uid);
    const now = this.#find(place);
    if (now !== undefined) this.#withoutFinalizer(now.at, place.key, now.object);
  }

  #blocks(place: StoredPlace, owner: string): boolean {
    const references = this.#find(place)?.object.metadata.ownerReferences ?? [];
    return references.some(({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true);
  }

  #orphan(dependents: readonly StoredPlace[], owner: string): void {
    for (const place of dependents) {
      const found = this.#find(place);
      if (found === undefined) continue;
      const { ownerReferences = [], ...metadata } = found.object.metadata;
      const others = ownerReferences.filter(({ uid }) => uid !== owner);
      const kept = others.length === 0 ? {} : { ownerReferences: others };
      this.#core.store.put(place.table, { ...found.object, metadata: { ...metadata, ...kept } });
    }
  }

  #withoutFinalizer(at: Located, key: string, owner: ApiObject): void {
    const { finalizers = [], ...metadata } = owner.metadata;
    const others = finalizers.filter((name) => name !== "orphan" && name !== "foregroundDeletion");
    const next = { ...owner, metadata: { ...metadata, ...(others.length === 0 ? {} : { finalizers: others }) } };
    const table = `${at.type.group}/${at.type.resource}`;
    const stays = others.length > 0 || (at.type.strategy.outlivesFinalizers?.(next) ?? false);
    if (stays) this.#core.store.put(table, next);
    else this.#core.store.remove(table, key, next);
  }

  #find({ table, key }: StoredPlace): { readonly at: Located; readonly object: ApiObject } | undefined {
    const [group = "", resource = ""] = table.split("/");
    const type = this.#core.registry.get(group, resource);
    const version = type?.versions.find((v) => v.served) ?? type?.versions[0];
    const object = this.#core.store.get(table, key);
    if (type === undefined || version === undefined || object === undefined) return undefined;
    return { at: { type, version }, object };
  }
}
