import type { Socket } from "node:net";
import { type Dispatcher, Pool } from "undici";
import type { Clock } from "../base/clock.ts";
import type { Connection } from "./connection.ts";
import { type ConnectorOptions, createConnector } from "./connector.ts";

/** Streams at a time on one HTTP/2 connection; API servers allow 100 to 250. */
const STREAMS_PER_CONNECTION = 80;
/** Sockets of one lane: 13 carry 1,000 requests at a time over HTTP/2. */
const SOCKETS_PER_LANE = 16;
/** How often an HTTP/2 connection is asked whether it lives; one that has not answered by the next time is dropped. */
const PING_MS = 10_000;
/** A connection that was silent for longer may have died unseen, above all while the function was frozen. */
const TRUSTED_IDLE_MS = 30_000;

/** What a lane is made from. */
export interface LaneOptions {
  readonly key: string;
  readonly connection: Connection;
  readonly clock: Clock;
  /** How long undici keeps a socket without requests, in milliseconds. */
  readonly keepIdleMs: number;
  readonly connector: Omit<ConnectorOptions, "signal" | "connection" | "clock" | "onOpen">;
  readonly onSocket: () => void;
  /** Told when the last request under way has ended. */
  readonly onIdle: (lane: Lane) => void;
}

interface Generation {
  readonly pool: Pool;
  /** Fires when attempts to connect are to end. */
  readonly ending: AbortController;
}

/**
 * The sockets of one sharing key: an undici Pool that is replaced as a whole whenever its connections cannot be trusted.
 * A replaced pool takes no new request and ends with its last one.
 */
export class Lane {
  readonly key: string;
  readonly #options: LaneOptions;
  readonly #retiring = new Set<Promise<void>>();
  readonly #sockets = new Set<Socket>();
  #current: Generation | undefined;
  #shut = false;
  #inFlight = 0;
  #usedMonotonic: number;
  #usedWall: number;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** How many clients hold this lane. */
  holders = 0;

  constructor(options: LaneOptions) {
    this.key = options.key;
    this.#options = options;
    this.#usedMonotonic = options.clock.monotonicMs();
    this.#usedWall = options.clock.now().getTime();
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get sockets(): number {
    return this.#sockets.size;
  }

  /** Monotonic moment of the last request's start or end. */
  get usedAt(): number {
    return this.#usedMonotonic;
  }

  /** Milliseconds without a request, by the clock that says more: the monotonic one stands still in a freeze. */
  idleMs(): number {
    if (this.#inFlight > 0) return 0;
    const { clock } = this.#options;
    return Math.max(clock.monotonicMs() - this.#usedMonotonic, clock.now().getTime() - this.#usedWall);
  }

  /** Sends one request, for which `end` must be called once; false when the lane is shut and nothing will come. */
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    this.renewIfIdle();
    this.#inFlight += 1;
    this.#touch();
    if (this.#shut) return false;
    this.#current ??= this.#open();
    this.#current.pool.dispatch(request, handler);
    return true;
  }

  /** An answer has begun to arrive. */
  answered(): void {
    this.#answeredAt = this.#options.clock.monotonicMs();
  }

  /**
   * A request is over. When it waited in vain since `silentSince` and nothing at all was answered meanwhile, the
   * connections are taken for half-open and replaced.
   */
  end(silentSince?: number): void {
    this.#inFlight -= 1;
    this.#touch();
    if (silentSince !== undefined && this.#answeredAt < silentSince) this.renew();
    if (this.#inFlight === 0) this.#options.onIdle(this);
  }

  /** Replaces connections that nothing has been heard of for too long. */
  renewIfIdle(): void {
    if (this.#current !== undefined && this.idleMs() > TRUSTED_IDLE_MS) this.renew();
  }

  /** New requests get new connections; those under way end on the old ones. */
  renew(): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#current = undefined;
    this.#retire(current.pool.close());
  }

  /** Ends every connection, and every request that is still under way; resolves when the sockets are closed. */
  async close(): Promise<void> {
    if (this.#current !== undefined) this.#destroy(this.#current, null);
    const sockets = [...this.#sockets];
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    // A retired pool would wait for its last request; here it is not given the time.
    for (const socket of sockets) socket.destroy();
    await Promise.all([...closed, ...this.#retiring]);
  }

  /** Closes for good: a request that comes later fails. */
  async shut(): Promise<void> {
    this.#shut = true;
    await this.close();
  }

  #open(): Generation {
    const { connection, clock, connector, keepIdleMs } = this.#options;
    const ending = new AbortController();
    const pool = new Pool(connection.server.origin, {
      connections: SOCKETS_PER_LANE,
      connect: createConnector({
        ...connector,
        connection,
        clock,
        signal: ending.signal,
        onOpen: (socket) => this.#track(socket),
      }),
      keepAliveTimeout: keepIdleMs,
      keepAliveMaxTimeout: keepIdleMs,
      // Our own deadlines, by our own clock, are in force instead.
      headersTimeout: 0,
      bodyTimeout: 0,
      h2Options: { maxConcurrentStreams: STREAMS_PER_CONNECTION, pingInterval: PING_MS },
    });
    const generation = { pool, ending };
    pool.on("connectionError", (_origin, _targets, error) => {
      // Nothing is connected: all who wait learn why at once, instead of one for each further attempt.
      if (!pool.destroyed && pool.stats.connected === 0) this.#destroy(generation, error);
    });
    return generation;
  }

  #destroy(generation: Generation, error: Error | null): void {
    if (this.#current === generation) this.#current = undefined;
    generation.ending.abort();
    this.#retire(generation.pool.destroy(error));
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    this.#options.onSocket();
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #retire(ended: Promise<void>): void {
    const done = ended
      .catch(() => undefined)
      .finally(() => {
        this.#retiring.delete(done);
      });
    this.#retiring.add(done);
  }

  #touch(): void {
    this.#usedMonotonic = this.#options.clock.monotonicMs();
    this.#usedWall = this.#options.clock.now().getTime();
  }
}
