import type { Clock } from "../../../lib/base/clock.ts";
import type { Ids } from "../../../lib/base/ids.ts";
import type { Random } from "../../../lib/base/random.ts";
import { startLoopbackServer } from "../aws/loopback-server.ts";
import { functionArn, type Place } from "./environment-variables.ts";
import { EventQueue, type FailedEvent } from "./event-queue.ts";
import { Fleet } from "./fleet.ts";
import type { FunctionChange, FunctionDefinition, Invocation, InvocationResult } from "./function-definition.ts";
import { type InvokeCall, nameOf, serveInvoke } from "./invoke-api.ts";
import { Sandbox, type SandboxState } from "./sandbox.ts";
import { Watchdog } from "./watchdog.ts";

/** A line that a function, or Lambda about it, wrote. */
export interface LogEvent {
  readonly function: string;
  readonly environment: string;
  readonly line: string;
}

/** One execution environment, as it is now. */
export interface EnvironmentRow {
  readonly id: string;
  readonly function: string;
  readonly pid: number | undefined;
  readonly state: SandboxState;
  readonly since: Date;
  readonly requestId: string | undefined;
}

/** What the service needs. Everything that has a default has Lambda's own. */
export interface LambdaOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly region?: string;
  readonly accountId?: string;
  /** Variables of all functions: endpoints, region, credentials. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly initTimeoutMs?: number;
  /** How long a frozen environment is kept. */
  readonly idleMs?: number;
  /** The waits before the retries of an asynchronous invocation. */
  readonly retryDelaysMs?: readonly number[];
  /** How likely an event is to be delivered twice; 0 by default. */
  readonly duplicateProbability?: number;
  readonly onLog?: (event: LogEvent) => void;
  /** Told whenever an environment changes its state. */
  readonly onEnvironment?: (row: EnvironmentRow) => void;
  /** The on-failure destination of all functions. */
  readonly onFailure?: (record: FailedEvent) => void;
}

/** A running Lambda service. */
export interface Lambda {
  /** For `AWS_ENDPOINT_URL_LAMBDA`. */
  readonly url: string;
  /** Creates a function; returns its ARN. */
  register(definition: FunctionDefinition): string;
  /** Deploys new code or configuration: in force for the next invocation. */
  update(name: string, change: FunctionChange): void;
  /** Runs a function and waits for it. */
  invoke(nameOrArn: string, payload: unknown): Promise<InvocationResult | "throttled" | "notFound">;
  /** Queues an event as `InvocationType: Event` does; `notFound` when there is no such function. */
  invokeEvent(nameOrArn: string, payload: unknown): "accepted" | "notFound";
  /** Every environment that lives. */
  environments(): readonly EnvironmentRow[];
  /** Sends a signal to an environment's process, as a test does; false when there is no such environment. */
  kill(id: string, signal: NodeJS.Signals): boolean;
  /** How many asynchronous events wait or are under way. */
  queued(): number;
  /** Kills every environment and frees every port. */
  stop(): Promise<void>;
}

const DEFAULTS = { initTimeoutMs: 10_000, idleMs: 10 * 60_000, retryDelaysMs: [60_000, 120_000] } as const;

/** Starts Lambda on 127.0.0.1: the Invoke API in front, real processes with the Runtime API behind. */
export async function startLambda(options: LambdaOptions): Promise<Lambda> {
  const service = new LambdaService(options);
  const server = await startLoopbackServer(async (request) => await serveInvoke(service, request));
  return {
    url: server.url,
    register: (definition) => service.register(definition),
    update: (name, change) => service.fleet(name).deploy(change),
    invoke: async (nameOrArn, payload) => {
      const functionName = service.find(nameOrArn);
      if (functionName === undefined) return "notFound";
      return await service.run({ functionName, payload: JSON.stringify(payload) ?? "null" });
    },
    invokeEvent: (nameOrArn, payload) => {
      const functionName = service.find(nameOrArn);
      if (functionName === undefined) return "notFound";
      service.queue({ functionName, payload: JSON.stringify(payload) ?? "null" });
      return "accepted";
    },
    environments: () => service.sandboxes().map(row),
    kill: (id, signal) => {
      const sandbox = service.sandboxes().find((candidate) => candidate.id === id);
      sandbox?.signal(signal);
      return sandbox !== undefined;
    },
    queued: () => service.events.size,
    stop: async () => {
      await server.stop();
      await service.stop();
    },
  };
}

class LambdaService {
  readonly events: EventQueue;
  readonly #options: LambdaOptions;
  readonly #place: Place;
  readonly #fleets = new Map<string, Fleet>();
  readonly #watchdog = new Watchdog();

  constructor(options: LambdaOptions) {
    this.#options = options;
    this.#place = { region: options.region ?? "us-east-1", accountId: options.accountId ?? "000000000000" };
    this.events = new EventQueue({
      clock: options.clock,
      random: options.random,
      retryDelaysMs: options.retryDelaysMs ?? DEFAULTS.retryDelaysMs,
      duplicateProbability: options.duplicateProbability ?? 0,
      onFailure: options.onFailure ?? (() => {}),
    });
  }

  register(definition: FunctionDefinition): string {
    if (this.#fleets.has(definition.name)) throw new Error(`function ${definition.name} is registered already`);
    const { clock } = this.#options;
    const fleet = new Fleet({
      definition,
      clock,
      idleMs: this.#options.idleMs ?? DEFAULTS.idleMs,
      makeSandbox: (current, onState) => this.#makeSandbox(current, onState),
    });
    this.#fleets.set(definition.name, fleet);
    return functionArn(this.#place, definition.name);
  }

  fleet(name: string): Fleet {
    const fleet = this.#fleets.get(name);
    if (fleet === undefined) throw new Error(`there is no function ${name}`);
    return fleet;
  }

  has(functionName: string): boolean {
    return this.#fleets.has(functionName);
  }

  find(nameOrArn: string): string | undefined {
    const name = nameOf(nameOrArn);
    return name !== undefined && this.has(name) ? name : undefined;
  }

  async run(call: InvokeCall): Promise<InvocationResult | "throttled"> {
    return await this.fleet(call.functionName).invoke(this.#invocation(call));
  }

  queue(call: InvokeCall): string {
    const invocation = this.#invocation(call);
    this.events.add(this.fleet(call.functionName), invocation);
    return invocation.requestId;
  }

  sandboxes(): readonly Sandbox[] {
    return [...this.#fleets.values()].flatMap((fleet) => fleet.sandboxes);
  }

  async stop(): Promise<void> {
    const events = this.events.stop();
    await Promise.all([...this.#fleets.values()].map(async (fleet) => await fleet.stop()));
    await events;
    await this.#watchdog.stop();
  }

  #invocation(call: InvokeCall): Invocation {
    const [requestId, root] = [this.#options.ids.uuid(), this.#options.ids.uuid().replaceAll("-", "")];
    const seconds = Math.floor(this.#options.clock.now().getTime() / 1000).toString(16);
    return {
      requestId,
      functionArn: functionArn(this.#place, call.functionName),
      payload: call.payload,
      traceId: `Root=1-${seconds}-${root.slice(0, 24)};Sampled=0`,
      ...(call.clientContext === undefined ? {} : { clientContext: call.clientContext }),
    };
  }

  #makeSandbox(definition: FunctionDefinition, onState: (sandbox: Sandbox) => void): Sandbox {
    const { clock, ids, onLog, onEnvironment } = this.#options;
    const id = ids.uuid().replaceAll("-", "");
    return new Sandbox({
      id,
      definition,
      place: this.#place,
      sharedVariables: this.#options.environment ?? {},
      initTimeoutMs: this.#options.initTimeoutMs ?? DEFAULTS.initTimeoutMs,
      clock,
      watchdog: this.#watchdog,
      onLine: (line) => onLog?.({ function: definition.name, environment: id, line }),
      onState: (sandbox) => {
        onState(sandbox);
        onEnvironment?.(row(sandbox));
      },
    });
  }
}

function row(sandbox: Sandbox): EnvironmentRow {
  return {
    id: sandbox.id,
    function: sandbox.definition.name,
    pid: sandbox.pid,
    state: sandbox.state,
    since: sandbox.since,
    requestId: sandbox.requestId,
  };
}
