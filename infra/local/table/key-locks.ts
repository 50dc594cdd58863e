/** Locks by name. Work on different names runs side by side; work that shares a name runs in the order of asking. */
export class KeyLocks {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Runs `work` while it alone holds all of `keys`. All places in the queues are taken in one step, so that two calls
   * can never wait for each other in a circle.
   */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const own = [...new Set(keys)];
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const before = own.map(async (key) => await this.#last.get(key));
    for (const key of own) this.#last.set(key, done);
    await Promise.all(before);
    try {
      return await work();
    } finally {
      for (const key of own) if (this.#last.get(key) === done) this.#last.delete(key);
      resolve();
    }
  }
}
