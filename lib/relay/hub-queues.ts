interface HubQueue {
  limit: number;
  running: number;
  /** Waiting tasks; those before `next` have been started. */
  tasks: (() => Promise<void>)[];
  next: number;
}

/**
 * Runs tasks, first come first served within a hub, each hub within its own share of the places: a hub that hangs uses up
 * its own share and delays nobody else. In all at most `concurrency` tasks and one more for each hub run at a time.
 */
export class HubQueues {
  readonly #concurrency: number;
  readonly #hubs = new Map<string, HubQueue>();
  #running = 0;
  #idle: PromiseWithResolvers<void> | undefined;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Shares the places out among the hubs of the targets, by how many of them each has, at least one each. */
  share(targets: readonly { readonly hub: string }[]): void {
    const counts = new Map<string, number>();
    for (const { hub } of targets) counts.set(hub, (counts.get(hub) ?? 0) + 1);
    for (const [hub, queue] of this.#hubs) {
      if (!counts.has(hub) && queue.running === 0 && queue.tasks.length === queue.next) this.#hubs.delete(hub);
    }
    for (const [hub, count] of counts) {
      this.#queue(hub).limit = Math.min(count, Math.ceil((this.#concurrency * count) / targets.length));
    }
  }

  /** Runs the task as soon as its hub has a free place. The task must not reject. */
  push(hub: string, task: () => Promise<void>): void {
    const queue = this.#queue(hub);
    queue.tasks.push(task);
    this.#fill(queue);
  }

  /** Forgets what has not been started. */
  clear(): void {
    for (const queue of this.#hubs.values()) {
      queue.tasks = [];
      queue.next = 0;
    }
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    this.#idle ??= Promise.withResolvers<void>();
    await this.#idle.promise;
  }

  #queue(hub: string): HubQueue {
    const known = this.#hubs.get(hub);
    if (known !== undefined) return known;
    const made = { limit: 1, running: 0, tasks: [], next: 0 };
    this.#hubs.set(hub, made);
    return made;
  }

  #fill(queue: HubQueue): void {
    while (queue.running < queue.limit) {
      const task = queue.tasks[queue.next];
      if (task === undefined) break;
      queue.next += 1;
      queue.running += 1;
      this.#running += 1;
      void task().then(() => this.#ended(queue));
    }
    if (queue.next === queue.tasks.length) {
      queue.tasks = [];
      queue.next = 0;
    }
  }

  #ended(queue: HubQueue): void {
    queue.running -= 1;
    this.#running -= 1;
    this.#fill(queue);
    if (this.#running > 0) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }
}
