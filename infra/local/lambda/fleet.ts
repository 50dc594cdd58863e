import type { Clock } from "../../../lib/base/clock.ts";
import {
  type FunctionChange,
  type FunctionDefinition,
  type Invocation,
  type InvocationResult,
} from "./function-definition.ts";
import type { Sandbox } from "./sandbox.ts";

/** Makes an environment of a function; it starts with its first invocation. */
type MakeSandbox = (definition: FunctionDefinition, onState: (sandbox: Sandbox) => void) => Sandbox;

/** What a fleet needs. */
export interface FleetOptions {
  readonly definition: FunctionDefinition;
  readonly makeSandbox: MakeSandbox;
  readonly clock: Clock;
  /** How long a frozen environment is kept. */
  readonly idleMs: number;
}

/** The environments of one function: reused when free, made when all are busy, replaced by a deployment. */
export class Fleet {
  #definition: FunctionDefinition;
  readonly #options: FleetOptions;
  readonly #sandboxes = new Set<Sandbox>();
  /** The longest idle one first. */
  #free: Sandbox[] = [];
  readonly #idle = new Map<Sandbox, AbortController>();
  readonly #ending = new Set<Promise<void>>();
  #working = 0;
  #stopped = false;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#definition = options.definition;
  }

  get definition(): FunctionDefinition {
    return this.#definition;
  }

  /** Every environment that lives. */
  get sandboxes(): readonly Sandbox[] {
    return [...this.#sandboxes];
  }

  /** Runs one invocation; `throttled` when the function's concurrency is used up. */
  async invoke(invocation: Invocation): Promise<InvocationResult | "throttled"> {
    if (this.#stopped || this.#working >= (this.#definition.reservedConcurrency ?? Infinity)) return "throttled";
    this.#working += 1;
    try {
      return await this.#take().invoke(invocation);
    } finally {
      this.#working -= 1;
    }
  }

  /** A deployment: free environments end now, busy ones after their invocation, and new invocations get new ones. */
  deploy(change: FunctionChange): void {
    this.#definition = { ...this.#definition, ...change };
    for (const sandbox of this.#free) this.#end(sandbox);
    this.#free = [];
  }

  /** Ends all environments. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const sandbox of this.#sandboxes) this.#end(sandbox);
    await Promise.all(this.#ending);
  }

  #take(): Sandbox {
    const free = this.#free.pop();
    if (free !== undefined) {
      this.#idle.get(free)?.abort();
      return free;
    }
    const sandbox = this.#options.makeSandbox(this.#definition, (changed) => this.#changed(changed));
    this.#sandboxes.add(sandbox);
    return sandbox;
  }

  #changed(sandbox: Sandbox): void {
    if (sandbox.state === "ended") {
      this.#idle.get(sandbox)?.abort();
      this.#free = this.#free.filter((other) => other !== sandbox);
      this.#end(sandbox);
    }
    if (sandbox.state !== "frozen") return;
    if (sandbox.definition !== this.#definition) {
      this.#end(sandbox);
      return;
    }
    this.#free.push(sandbox);
    this.#waitIdle(sandbox);
  }

  #waitIdle(sandbox: Sandbox): void {
    const idle = new AbortController();
    this.#idle.set(sandbox, idle);
    void this.#options.clock.sleep(this.#options.idleMs, idle.signal).then(() => {
      this.#idle.delete(sandbox);
      if (idle.signal.aborted) return;
      this.#free = this.#free.filter((other) => other !== sandbox);
      this.#end(sandbox);
    });
  }

  #end(sandbox: Sandbox): void {
    this.#idle.get(sandbox)?.abort();
    const ended = sandbox.end().then(() => {
      this.#sandboxes.delete(sandbox);
      this.#ending.delete(ended);
    });
    this.#ending.add(ended);
  }
}
