/** What is due and has not ended, oldest first. Dues are added in their order, give or take; all calls take constant time. */
export class Outstanding {
  readonly #dues = new Map<object, number>();

  /** Takes note that something is due. */
  add(what: object, dueMs: number): void {
    this.#dues.set(what, dueMs);
  }

  /** It has ended. */
  delete(what: object): void {
    this.#dues.delete(what);
  }

  /** When the oldest of them was due; undefined when nothing is outstanding. */
  oldestDueMs(): number | undefined {
    // A map iterates in the order of insertion, so that its first entry is the oldest.
    for (const dueMs of this.#dues.values()) return dueMs - 1;
    return undefined;
  }
}
