/** One answered (or broken off) request. */
export interface RequestLogEntry {
  /** When it arrived, in milliseconds since the epoch, by the server's clock. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly verb: string;
  readonly path: string;
  readonly group: string | undefined;
  readonly resource: string | undefined;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  /** Who asked; undefined when the credential was refused. */
  readonly user: string | undefined;
  /** HTTP status of the answer; 0 when none was sent. */
  readonly status: number;
  /** True when the answer was sent to its end. */
  readonly complete: boolean;
  readonly protocol: "HTTP/1.1" | "HTTP/2";
  /** Which connection carried it; connections are counted from 1. */
  readonly connection: number;
  /**
   * Bytes on the wire, TLS included, that the connection carried since its previous entry: sums over a connection are
   * right; one entry alone is right only where requests do not overlap.
   */
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly userAgent: string | undefined;
}

/** What is known when a request arrives and is told who asks. */
export type ReceivedRequest = Pick<
  RequestLogEntry,
  "atMs" | "verb" | "path" | "group" | "resource" | "subresource" | "namespace" | "name" | "user" | "connection"
>;

type Listener<T> = (entry: T) => void;

/** The last requests of an API server, oldest first, and who wants to hear of new ones. */
export class RequestLog {
  readonly #capacity: number;
  readonly #ring: RequestLogEntry[] = [];
  #next = 0;
  #total = 0;
  readonly #completed = new Set<Listener<RequestLogEntry>>();
  readonly #received = new Set<Listener<ReceivedRequest>>();

  /** @param capacity how many entries are kept */
  constructor(capacity = 10_000) {
    this.#capacity = capacity;
  }

  /** How many requests were answered since the start, the forgotten ones included. */
  get total(): number {
    return this.#total;
  }

  /** The kept entries, oldest first. */
  entries(filter: (entry: RequestLogEntry) => boolean = () => true): readonly RequestLogEntry[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].filter(filter);
  }

  /** Calls `listener` for each request when it is over; the answer ends that. */
  subscribe(listener: Listener<RequestLogEntry>): () => void {
    this.#completed.add(listener);
    return () => this.#completed.delete(listener);
  }

  /** Calls `listener` for each request when it is known who asks, before anything is done for it. */
  subscribeReceived(listener: Listener<ReceivedRequest>): () => void {
    this.#received.add(listener);
    return () => this.#received.delete(listener);
  }

  /** Resolves with the next answered request that fits; rejects when `signal` fires first. */
  next(filter: (entry: RequestLogEntry) => boolean, signal?: AbortSignal): Promise<RequestLogEntry> {
    return nextOf((listener) => this.subscribe(listener), filter, signal);
  }

  /** Resolves with the next arriving request that fits; rejects when `signal` fires first. */
  nextReceived(filter: (entry: ReceivedRequest) => boolean, signal?: AbortSignal): Promise<ReceivedRequest> {
    return nextOf((listener) => this.subscribeReceived(listener), filter, signal);
  }

  /** For the server: a request was recognised. */
  receive(entry: ReceivedRequest): void {
    for (const listener of this.#received) listener(entry);
  }

  /** For the server: a request is over. */
  append(entry: RequestLogEntry): void {
    this.#total += 1;
    this.#ring[this.#next] = entry;
    this.#next = (this.#next + 1) % this.#capacity;
    for (const listener of this.#completed) listener(entry);
  }

  /** Forgets the kept entries. */
  clear(): void {
    this.#ring.length = 0;
    this.#next = 0;
  }
}

async function nextOf<T>(
  subscribe: (listener: Listener<T>) => () => void,
  filter: (entry: T) => boolean,
  signal?: AbortSignal,
): Promise<T> {
  signal?.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const stop = (): void => {
      unsubscribe();
      signal?.removeEventListener("abort", aborted);
    };
    const aborted = (): void => {
      stop();
      reject(signal?.reason);
    };
    const unsubscribe = subscribe((entry) => {
      if (!filter(entry)) return;
      stop();
      resolve(entry);
    });
    signal?.addEventListener("abort", aborted, { once: true });
  });
}
