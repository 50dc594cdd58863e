/**
 * From which version a watch may be resumed: never past an event whose import is not stored yet, whatever the order in
 * which imports are finished. Versions are opaque; what counts is the order of their arrival.
 */
export class Outstanding {
  /** Versions in the order of arrival, the ones before the oldest open import folded into `#safe`. */
  #arrived: { readonly at: number; readonly version: string }[] = [];
  /** Import -> when its oldest event that is not stored has arrived. */
  readonly #open = new Map<string, number>();
  #count = 0;
  #safe: string | undefined;

  /** @param version where the watch may resume already */
  constructor(version?: string) {
    this.#safe = version;
  }

  /** How many imports are not stored. */
  get size(): number {
    return this.#open.size;
  }

  /** Everything up to `version` has arrived, the last of it about these imports. */
  arrived(version: string, names: Iterable<string>): void {
    this.#count += 1;
    for (const name of names) {
      if (!this.#open.has(name)) this.#open.set(name, this.#count);
    }
    const last = this.#arrived.at(-1);
    const folds = last !== undefined && this.#oldest() > last.at;
    if (folds) this.#arrived.pop();
    this.#arrived.push({ at: this.#count, version });
  }

  /** What the import has become is in the table. */
  stored(name: string): void {
    this.#open.delete(name);
  }

  /** The version to resume from; undefined while there is none. */
  resumable(): string | undefined {
    const oldest = this.#oldest();
    const open = this.#arrived.findIndex(({ at }) => at >= oldest);
    const before = open === -1 ? this.#arrived.length : open;
    this.#safe = this.#arrived[before - 1]?.version ?? this.#safe;
    this.#arrived = this.#arrived.slice(before);
    return this.#safe;
  }

  /** A name keeps its place in the map until it is taken out: the first one has been open for longest. */
  #oldest(): number {
    const [first = Number.POSITIVE_INFINITY] = this.#open.values();
    return first;
  }
}
