/** How many sockets may be open at a time for one purpose. Waiters are served in their order. */
export class SocketBudget {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #open = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Sockets open or about to be. */
  get open(): number {
    return this.#open;
  }

  /** True when someone waits for a socket of somebody else to close. */
  get short(): boolean {
    return this.#waiting.length > 0;
  }

  /**
   * Takes one socket's place, waiting for it if need be; every place taken is given back by {@link release}.
   * @param onShort called when there is none, so that an idle socket can be closed
   * @returns false when the signal fired first; nothing is taken then
   */
  async take(signal: AbortSignal, onShort: () => void): Promise<boolean> {
    if (signal.aborted) return false;
    if (this.#open < this.#most) {
      this.#open += 1;
      return true;
    }
    const given = new Promise<boolean>((resolve) => {
      const wake = (): void => {
        signal.removeEventListener("abort", giveUp);
        resolve(true);
      };
      const giveUp = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1);
        resolve(false);
      };
      signal.addEventListener("abort", giveUp, { once: true });
      this.#waiting.push(wake);
    });
    onShort();
    return await given;
  }

  release(): void {
    const next = this.#waiting.shift();
    // The place goes to the first waiter directly, so that nobody overtakes it.
    if (next === undefined) this.#open -= 1;
    else next();
  }
}
