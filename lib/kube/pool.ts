import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { Alarms } from "./alarms.ts";
import { type Connection, type Purpose, sharingKey } from "./connection.ts";
import { Lane } from "./lane.ts";
import { type Proxy, type ProxySettings, parseProxyUrl, proxyFromSettings } from "./proxy.ts";
import { SocketBudget } from "./socket-budget.ts";

/** Sockets open at a time, by purpose. Lambda allows 1,024 descriptors in all. */
export type SocketLimits = Readonly<Record<Purpose, number>>;

const SOCKET_LIMITS: SocketLimits = { beat: 800, watch: 800, member: 64 };

/** How long undici keeps an unused socket, in milliseconds: members' sockets are closed after use. */
const KEEP_IDLE_MS: SocketLimits = { beat: 30_000, watch: 30_000, member: 4000 };

/** What the shared connections of a process are made with. */
export interface ConnectionsOptions {
  readonly clock: Clock;
  /** Jitter of retries. */
  readonly random: Random;
  /** Hawser's version, for the User-Agent. */
  readonly version: string;
  readonly proxy?: ProxySettings;
  readonly limits?: SocketLimits;
  /** Name resolution, TCP, proxy and TLS together, in milliseconds (default 3,000). */
  readonly connectMs?: number;
}

/** A lane's sockets are closed when nobody has used it for this long. */
const CLOSE_UNUSED_MS = 60_000;
const SWEEP_EVERY_MS = 10_000;

/**
 * The connections of a process, shared by everything that may share them (see {@link sharingKey}); one per process.
 * Nothing runs in the background: unused lanes are closed when others are used, unused sockets by undici.
 */
export class Connections {
  readonly clock: Clock;
  readonly random: Random;
  readonly userAgent: string;
  /** Deadlines of the requests under way. */
  readonly alarms: Alarms;
  readonly #proxy: ProxySettings;
  readonly #connectMs: number;
  readonly #budgets: Readonly<Record<Purpose, SocketBudget>>;
  readonly #lanes = new Map<string, Lane>();
  #sweptAt: number;
  #opened = 0;
  #alone = 0;

  constructor(options: ConnectionsOptions) {
    this.clock = options.clock;
    this.random = options.random;
    this.userAgent = `hawser/${options.version}`;
    this.alarms = new Alarms(options.clock);
    this.#proxy = options.proxy ?? {};
    this.#connectMs = options.connectMs ?? 3000;
    const limits = options.limits ?? SOCKET_LIMITS;
    this.#budgets = {
      beat: new SocketBudget(limits.beat),
      watch: new SocketBudget(limits.watch),
      member: new SocketBudget(limits.member),
    };
    this.#sweptAt = this.clock.monotonicMs();
  }

  /** Sockets open now, sockets opened since the start, and lanes; for metrics and tests. */
  get stats(): { readonly sockets: number; readonly opened: number; readonly lanes: number } {
    let sockets = 0;
    for (const lane of this.#lanes.values()) sockets += lane.sockets;
    return { sockets, opened: this.#opened, lanes: this.#lanes.size };
  }

  /** The proxy on the way to a server: the connection's own, else what the settings say. */
  proxyFor(connection: Connection): Proxy | undefined {
    if (connection.proxy !== undefined) return connection.proxy;
    const url = proxyFromSettings(connection.server, this.#proxy);
    if (url === undefined) return undefined;
    const parsed = parseProxyUrl(url);
    // Settings are checked where they are read; a proxy that cannot be used must not become a direct connection.
    if (!parsed.ok) throw new Error(`HTTPS_PROXY: ${parsed.error.problem}. ${parsed.error.remedy}`);
    return parsed.value;
  }

  /** The lane of a connection, made when there is none; to be given up by {@link leave}. */
  join(purpose: Purpose, connection: Connection): Lane {
    return this.#join(purpose, connection, "");
  }

  /** A lane that nobody else joins; to be given up by {@link leave}. */
  joinAlone(purpose: Purpose, connection: Connection): Lane {
    this.#alone += 1;
    return this.#join(purpose, connection, ` alone ${this.#alone}`);
  }

  #join(purpose: Purpose, connection: Connection, apart: string): Lane {
    this.#sweep();
    const proxy = this.proxyFor(connection);
    const key = sharingKey(purpose, connection, proxy) + apart;
    const found = this.#lanes.get(key);
    const lane = found ?? this.#make(purpose, key, connection, proxy);
    lane.holders += 1;
    return lane;
  }

  #make(purpose: Purpose, key: string, connection: Connection, proxy: Proxy | undefined): Lane {
    const budget = this.#budgets[purpose];
    const lane = new Lane({
      key,
      connection,
      clock: this.clock,
      keepIdleMs: KEEP_IDLE_MS[purpose],
      connector: {
        proxy,
        proxyCa: this.#proxy.proxyCa,
        connectMs: this.#connectMs,
        takePlace: (signal) => budget.take(signal, () => this.#closeIdlest(purpose)),
        releasePlace: () => budget.release(),
      },
      onSocket: () => {
        this.#opened += 1;
      },
      onIdle: (idle) => {
        if (budget.short) void idle.close();
      },
    });
    this.#lanes.set(key, lane);
    return lane;
  }

  /** Gives a lane up; the last holder closes it. */
  async leave(lane: Lane): Promise<void> {
    lane.holders -= 1;
    if (lane.holders > 0) return;
    if (this.#lanes.get(lane.key) === lane) this.#lanes.delete(lane.key);
    await lane.shut();
  }

  /**
   * To be called when the process may have been frozen (at the start of each window): connections that were idle for
   * long are not used again. Each lane also sees to that by itself with its next request.
   */
  refresh(): void {
    for (const lane of this.#lanes.values()) lane.renewIfIdle();
    this.#sweep();
  }

  /** Ends everything; resolves when every socket is closed. */
  async close(): Promise<void> {
    const lanes = [...this.#lanes.values()];
    this.#lanes.clear();
    await Promise.all(lanes.map((lane) => lane.shut()));
  }

  #sweep(): void {
    const now = this.clock.monotonicMs();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    for (const lane of this.#lanes.values()) {
      if (lane.idleMs() >= CLOSE_UNUSED_MS) void lane.close();
    }
  }

  /** Makes room: the lane that has been unused for longest gives its sockets up. */
  #closeIdlest(purpose: Purpose): void {
    let idlest: Lane | undefined;
    for (const lane of this.#lanes.values()) {
      if (!lane.key.startsWith(`${purpose} `) || lane.inFlight > 0 || lane.sockets === 0) continue;
      if (idlest === undefined || lane.usedAt < idlest.usedAt) idlest = lane;
    }
    void idlest?.close();
  }
}
