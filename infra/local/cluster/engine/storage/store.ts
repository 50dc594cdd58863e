import type { Clock } from "../../../../../lib/base/clock.ts";
import type { ApiObject } from "../../types.ts";

/** One change of one object. */
export interface StoredEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The table's name: `group/plural`. */
  readonly table: string;
  readonly key: string;
  readonly resourceVersion: number;
  /** When it happened, by the monotonic clock. */
  readonly atMs: number;
  /** The object after the change; for DELETED as it last was, with the resourceVersion of the deletion. */
  readonly object: ApiObject;
  readonly previous: ApiObject | undefined;
}

/** How much history is kept. */
export interface HistoryLimits {
  readonly events: number;
  readonly ms: number;
}

interface Table {
  readonly objects: Map<string, ApiObject>;
  /** Keys in order; undefined after a key came or went. */
  keys: readonly string[] | undefined;
  /** resourceVersion of the last change. */
  changedAt: number;
}

interface Snapshot {
  readonly resourceVersion: number;
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, ApiObject>>;
}

/** `namespace/name`, or the name alone. */
export function keyOf(namespace: string | undefined, name: string): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/**
 * All objects and a bounded history of their changes, under one counter of resourceVersions, as etcd keeps them.
 * Objects are never changed once stored: each change puts a new one.
 */
export class Store {
  readonly #clock: Clock;
  readonly #limits: HistoryLimits;
  #tables = new Map<string, Table>();
  #history: StoredEvent[] = [];
  #resourceVersion = 1;
  #compacted = 1;
  /** Counts restores. */
  #generation = 0;
  readonly #listeners = new Map<string, Set<(event: StoredEvent) => void>>();
  /** How to end each subscription, with the table it is for. */
  readonly #resets = new Map<() => void, string>();
  readonly #observers: ((event: StoredEvent) => void)[] = [];

  constructor(clock: Clock, limits: HistoryLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** The resourceVersion of the last change. */
  get resourceVersion(): number {
    return this.#resourceVersion;
  }

  /** Changes up to and including this resourceVersion are forgotten. */
  get compacted(): number {
    return this.#compacted;
  }

  get(table: string, key: string): ApiObject | undefined {
    return this.#tables.get(table)?.objects.get(key);
  }

  /** The objects of a table, or of one namespace of it, in the order of their keys. */
  list(table: string, namespace?: string): readonly ApiObject[] {
    const found = this.#tables.get(table);
    if (found === undefined) return [];
    found.keys ??= [...found.objects.keys()].toSorted(byCodeUnits);
    return collect(found.objects, found.keys, namespace);
  }

  /** Changes with every change of a table, a restore included. */
  tableVersion(table: string): string {
    return `${this.#generation}.${this.#tables.get(table)?.changedAt ?? 0}`;
  }

  /** Stores an object under the next resourceVersion and returns it as stored. */
  put(table: string, object: ApiObject): ApiObject {
    const objects = this.#table(table);
    const key = keyOf(object.metadata.namespace, object.metadata.name ?? "");
    const previous = objects.objects.get(key);
    const stored = stamped(object, ++this.#resourceVersion);
    objects.objects.set(key, stored);
    if (previous === undefined) objects.keys = undefined;
    this.#record({ type: previous === undefined ? "ADDED" : "MODIFIED", table, key, object: stored, previous });
    return stored;
  }

  /** Removes an object; `last` is its last state where that differs from the stored one. Returns what was deleted. */
  remove(table: string, key: string, last?: ApiObject): ApiObject | undefined {
    const objects = this.#table(table);
    const previous = objects.objects.get(key);
    if (previous === undefined) return undefined;
    objects.objects.delete(key);
    objects.keys = undefined;
    const object = stamped(last ?? previous, ++this.#resourceVersion);
    this.#record({ type: "DELETED", table, key, object, previous });
    return object;
  }

  /**
   * The objects of a table as they were at a resourceVersion that is not compacted.
   * The present is taken and the changes since then are undone, newest first.
   */
  listAt(table: string, resourceVersion: number, namespace?: string): readonly ApiObject[] {
    const since = this.eventsAfter(resourceVersion).filter((e) => e.table === table);
    if (since.length === 0) return this.list(table, namespace);
    const objects = new Map(this.#tables.get(table)?.objects);
    for (const event of since.toReversed()) {
      if (event.previous === undefined) objects.delete(event.key);
      else objects.set(event.key, event.previous);
    }
    return collect(objects, [...objects.keys()].toSorted(byCodeUnits), namespace);
  }

  /** Changes of all tables after a resourceVersion, oldest first. */
  eventsAfter(resourceVersion: number): readonly StoredEvent[] {
    let low = 0;
    let high = this.#history.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#history[middle]?.resourceVersion ?? 0) <= resourceVersion) low = middle + 1;
      else high = middle;
    }
    return this.#history.slice(low);
  }

  /** Calls `listener` for each change of a table from now on; returns how to stop. `reset` is called when a restore voids all. */
  subscribe(table: string, listener: (event: StoredEvent) => void, reset: () => void): () => void {
    const listeners = this.#listeners.get(table) ?? new Set();
    this.#listeners.set(table, listeners.add(listener));
    this.#resets.set(reset, table);
    return () => {
      listeners.delete(listener);
      this.#resets.delete(reset);
    };
  }

  /** Calls `observer` for each change of any table, after it is stored. */
  observe(observer: (event: StoredEvent) => void): void {
    this.#observers.push(observer);
  }

  compact(): void {
    this.#history = [];
    this.#compacted = this.#resourceVersion;
  }

  snapshot(): unknown {
    const tables = new Map([...this.#tables].map(([name, table]) => [name, new Map(table.objects)]));
    return { resourceVersion: this.#resourceVersion, tables } satisfies Snapshot;
  }

  restore(snapshot: unknown): void {
    if (!isSnapshot(snapshot)) throw new Error("this is no snapshot of a store");
    this.#generation += 1;
    this.#resourceVersion = snapshot.resourceVersion;
    this.#tables = new Map(
      [...snapshot.tables].map(([name, objects]) => [
        name,
        { objects: new Map(objects), keys: undefined, changedAt: snapshot.resourceVersion },
      ]),
    );
    this.compact();
    this.endWatches();
  }

  /** Ends all subscriptions, or those to one table. */
  endWatches(table?: string): void {
    for (const [reset, of] of this.#resets) if (table === undefined || of === table) reset();
  }

  #table(name: string): Table {
    const found = this.#tables.get(name);
    if (found !== undefined) return found;
    const made: Table = { objects: new Map(), keys: undefined, changedAt: 0 };
    this.#tables.set(name, made);
    return made;
  }

  #record(change: Omit<StoredEvent, "resourceVersion" | "atMs">): void {
    const event = { ...change, resourceVersion: this.#resourceVersion, atMs: this.#clock.monotonicMs() };
    this.#table(change.table).changedAt = event.resourceVersion;
    this.#history.push(event);
    this.#trim(event.atMs);
    for (const listener of this.#listeners.get(change.table) ?? []) listener(event);
    for (const observer of this.#observers) observer(event);
  }

  /** Cuts the history in steps, so that the cost of moving the array is spread over many changes. */
  #trim(nowMs: number): void {
    const slack = Math.max(16, this.#limits.events >>> 3);
    const oldest = this.#history[0];
    const tooMany = this.#history.length > this.#limits.events + slack;
    const tooOld = oldest !== undefined && nowMs - oldest.atMs > this.#limits.ms * 1.25;
    if (!tooMany && !tooOld) return;
    const young = this.#history.findIndex((e) => nowMs - e.atMs <= this.#limits.ms);
    const from = Math.max(young, this.#history.length - this.#limits.events, 0);
    this.#compacted = this.#history[from - 1]?.resourceVersion ?? this.#compacted;
    this.#history = this.#history.slice(from);
  }
}

function isSnapshot(value: unknown): value is Snapshot {
  return typeof value === "object" && value !== null && "tables" in value && value.tables instanceof Map;
}

function stamped(object: ApiObject, resourceVersion: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(resourceVersion) } };
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function collect(
  objects: ReadonlyMap<string, ApiObject>,
  keys: readonly string[],
  namespace: string | undefined,
): readonly ApiObject[] {
  const prefix = namespace === undefined || namespace === "" ? undefined : `${namespace}/`;
  const found: ApiObject[] = [];
  for (const key of keys) {
    const object = prefix === undefined || key.startsWith(prefix) ? objects.get(key) : undefined;
    if (object !== undefined) found.push(object);
  }
  return found;
}
