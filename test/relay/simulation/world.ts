/** Simulated time: events in their order, the code under test settling in between. */
export class World {
  nowMs = 0;
  #order = 0;
  readonly #heap: WorldEvent[] = [];

  /** Runs `happen` at the given moment, or now if that is past. */
  at(atMs: number, happen: () => void): WorldEvent {
    const event = { atMs: Math.max(atMs, this.nowMs), order: this.#order++, happen, cancelled: false };
    this.#heap.push(event);
    this.#rise(this.#heap.length - 1);
    return event;
  }

  /** Lets the next event happen, if it comes before `untilMs`. Returns whether one did. */
  step(untilMs: number): boolean {
    while (this.#heap[0]?.cancelled === true) this.#pop();
    const next = this.#heap[0];
    if (next === undefined || next.atMs > untilMs) return false;
    this.#pop();
    this.nowMs = next.atMs;
    next.happen();
    return true;
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    this.#heap[0] = last;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      const right = left + 1;
      let least = index;
      if (left < this.#heap.length && this.#before(left, least)) least = left;
      if (right < this.#heap.length && this.#before(right, least)) least = right;
      if (least === index) return;
      this.#swap(index, least);
      index = least;
    }
  }

  #rise(from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >>> 1;
      if (!this.#before(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #before(a: number, b: number): boolean {
    const first = this.#heap[a]!;
    const second = this.#heap[b]!;
    return first.atMs < second.atMs || (first.atMs === second.atMs && first.order < second.order);
  }

  #swap(a: number, b: number): void {
    [this.#heap[a], this.#heap[b]] = [this.#heap[b]!, this.#heap[a]!];
  }
}

/** Something that is to happen, unless it is cancelled before. */
export interface WorldEvent {
  readonly atMs: number;
  readonly order: number;
  readonly happen: () => void;
  cancelled: boolean;
}

/** Lets promise chains run until none can go on without an event: all of them are done before the next macrotask. */
export async function settle(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
