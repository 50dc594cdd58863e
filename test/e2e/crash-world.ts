import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { ListSchedulesCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { GetParametersByPathCommand, PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { type HttpRequest, startLoopbackServer } from "../../infra/local/aws/loopback-server.ts";
import type { SimulatedCluster } from "../../infra/local/cluster/simulated-cluster.ts";
import { type Lambda, startLambda } from "../../infra/local/lambda/lambda.ts";
import { startParameters } from "../../infra/local/parameters/parameters.ts";
import { startScheduler } from "../../infra/local/scheduler/scheduler.ts";
import { startTable } from "../../infra/local/table/table.ts";
import { createTableFromTemplate } from "../../infra/local/table/template.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { openState, type State } from "../../lib/state/state.ts";
import { type LeaveWorld, startLeaveWorld } from "../antrea/leave-world.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { until } from "../support/until.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };
const PLACE = "us-east-1:000000000000";
const ARN = `arn:aws:lambda:${PLACE}:function:hawser-test-`;
const READS = /\.(Get|BatchGet|Query|Describe|List|Scan)/;
const WRITING_VERBS = new Set(["create", "update", "patch", "delete"]);

/** Something that a function did outside its process, as the wire shows it. */
export interface Effect {
  readonly what: string;
  /** It changed something; a patch of what is not there does not. */
  readonly done: boolean;
}

/** A function that was killed, or its answer. */
export type Ran = { readonly killed: true } | { readonly killed: false; readonly answer: Record<string, unknown> };

/** All that Hawser can leave behind, in a form in which two runs can be compared. */
export interface Traces {
  readonly announces: readonly string[];
  readonly imported: readonly string[];
  readonly memberships: readonly string[];
  readonly items: readonly string[];
  readonly events: readonly string[];
  readonly schedules: readonly string[];
  readonly parameters: readonly string[];
}

interface Clients {
  readonly table: DynamoDBClient;
  readonly scheduler: SchedulerClient;
  readonly ssm: SSMClient;
}

/** The packaged functions in processes of their own, against embedded servers that count what is written to them. */
export class CrashWorld {
  readonly antrea: LeaveWorld;
  readonly state: State;
  readonly #lambda: Lambda;
  readonly #clients: Clients;
  readonly #stops: (() => Promise<void>)[];
  readonly #counter: Counter;

  private constructor(parts: {
    readonly antrea: LeaveWorld;
    readonly state: State;
    readonly lambda: Lambda;
    readonly clients: Clients;
    readonly stops: (() => Promise<void>)[];
    readonly counter: Counter;
  }) {
    this.antrea = parts.antrea;
    this.state = parts.state;
    this.#lambda = parts.lambda;
    this.#clients = parts.clients;
    this.#stops = parts.stops;
    this.#counter = parts.counter;
  }

  static async start(): Promise<CrashWorld> {
    const clock = systemClock;
    const ids = systemIds(clock, systemRandom);
    const counter = new Counter();
    const antrea = await startLeaveWorld("east");
    const table = await startTable({ clock });
    await createTableFromTemplate(table.url, await readFile(`${ROOT}infra/aws/table.yml`, "utf8"), "hawser-test");
    const invoke = () => "accepted" as const;
    const scheduler = await startScheduler({ clock: new FakeClock(), random: systemRandom, ids, invoke });
    const parameters = await startParameters({ clock });
    const noted = await startLoopbackServer(async () => ({ status: 202 }));
    const urls = { dynamodb: table.url, scheduler: scheduler.url, ssm: parameters.url, lambda: noted.url };
    const counted: Record<string, string> = {};
    const stops: (() => Promise<void>)[] = [];
    for (const [service, url] of Object.entries(urls)) {
      const front = await startLoopbackServer(async (request) => await counter.pass(service, url, request));
      counted[`AWS_ENDPOINT_URL_${service.toUpperCase()}`] = front.url;
      stops.push(() => front.stop());
    }
    for (const server of [noted, parameters, scheduler, table]) stops.push(() => server.stop());
    for (const [name, cluster] of [["leader", antrea.leaderCluster] as const, ...antrea.memberClusters]) {
      counter.watch(name, cluster);
    }
    const lambda = await startLambda({ clock, random: systemRandom, ids, environment: { ...settings(), ...counted } });
    for (const name of ["bootstrap", "leave", "sweep"]) {
      const handler = `dist/${name}.handler`;
      lambda.register({ name: `hawser-test-${name}`, taskRoot: ROOT, handler, timeoutSeconds: 120, memoryMb: 512 });
    }
    counter.kill = () => {
      for (const { id, state } of lambda.environments()) if (state === "busy") lambda.kill(id, "SIGKILL");
    };
    const at = { region: "us-east-1", credentials: CREDENTIALS };
    const clients = {
      table: new DynamoDBClient({ ...at, endpoint: table.url }),
      scheduler: new SchedulerClient({ ...at, endpoint: scheduler.url }),
      ssm: new SSMClient({ ...at, endpoint: parameters.url }),
    };
    const location = { tableName: "hawser-test", endpoint: table.url, region: "us-east-1", credentials: CREDENTIALS };
    const state = openState({ ...location, clock, random: systemRandom, ids });
    const world = new CrashWorld({ antrea, state, lambda, clients, stops, counter });
    for (const { cluster, kubeconfig } of antrea.members) {
      const command = new PutParameterCommand({
        Name: `/clusters/${cluster}`,
        Value: kubeconfig,
        Type: "SecureString",
      });
      await clients.ssm.send(command);
    }
    return world;
  }

  /** Runs a function to its answer, or kills its process after its effect number `killAfter`, counted from 0. */
  async run(name: string, event: object, killAfter?: number): Promise<Ran & { readonly effects: readonly Effect[] }> {
    this.#counter.begin(killAfter);
    const result = await this.#lambda.invoke(`hawser-test-${name}`, event);
    const effects = this.#counter.effects;
    if (typeof result === "string") throw new Error(result);
    if (this.#counter.killed) return { killed: true, effects };
    if (result.functionError !== undefined) throw new Error(`${name}: ${result.payload}`);
    return { killed: false, answer: JSON.parse(result.payload) as Record<string, unknown>, effects };
  }

  /** What a killed process held is over, as it is half a minute later. */
  async batonsExpire(): Promise<void> {
    const signal = new AbortController().signal;
    for (const [role, scope] of [
      ["lifecycle", "east#antrea"],
      ["sweep", "all"],
    ] as const) {
      const read = await this.state.batons.read({ role, scope }, signal);
      if (!read.ok || read.value?.holder === undefined) continue;
      await this.state.batons.change({ role, scope }, {}, { expiresAt: 1, writeId: crypto.randomUUID() }, signal);
    }
  }

  async traces(): Promise<Traces> {
    const { Items = [] } = await this.#clients.table.send(new ScanCommand({ TableName: "hawser-test" }));
    const items = Items.map((item) => unmarshall(item));
    const { Schedules = [] } = await this.#clients.scheduler.send(new ListSchedulesCommand({}));
    const { Parameters = [] } = await this.#clients.ssm.send(
      new GetParametersByPathCommand({ Path: "/", Recursive: true }),
    );
    const member = this.antrea.memberClusters.get("east");
    const isEvent = ({ sk }: Record<string, unknown>): boolean => String(sk).startsWith("EVENT#");
    return {
      announces: this.antrea.announced("east") ? ["east"] : [],
      imported: (member?.engine.readAll("", "services") ?? [])
        .filter(({ metadata }) =>
          Object.keys(metadata.annotations ?? {}).some((name) => name.endsWith("imported-service")),
        )
        .map(({ metadata }) => metadata.name ?? ""),
      memberships: items
        .filter(({ sk }) => String(sk).startsWith("MEMBERSHIP#"))
        .map(
          ({ cluster, phase, keptLeaderHash }) => `${cluster} ${phase} ${keptLeaderHash === undefined ? "" : "kept"}`,
        ),
      items: items
        .filter((item) => !isEvent(item))
        .map(({ pk, sk, count }) => `${pk} ${sk}${count === undefined ? "" : ` ${count}`}`)
        .toSorted(),
      events: items.filter(isEvent).map(({ kind }) => String(kind)),
      schedules: Schedules.map(({ Name }) => (Name ?? "").replace(/\.\d+$/, "")),
      parameters: Parameters.map(({ Name }) => Name ?? "").toSorted(),
    };
  }

  async stop(): Promise<void> {
    await this.#lambda.stop();
    this.state.close();
    for (const client of Object.values(this.#clients)) client.destroy();
    for (const stop of this.#stops) await stop();
    await this.antrea.end();
  }
}

/** Counts what a function writes, and kills it when a certain effect is there and its answer is not. */
class Counter {
  kill: () => void = () => undefined;
  killed = false;
  effects: Effect[] = [];
  #killAfter: number | undefined;

  begin(killAfter: number | undefined): void {
    this.effects = [];
    this.killed = false;
    this.#killAfter = killAfter;
  }

  /** An AWS service behind a front that sees requests and answers. */
  async pass(service: string, url: string, request: HttpRequest) {
    const target = String(request.headers["x-amz-target"] ?? `${request.method} ${request.path}`);
    const { host: _host, "content-length": _length, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(`${url}${request.path}?${request.query.toString()}`, {
      method: request.method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(request.body.length === 0 ? {} : { body: new Uint8Array(request.body) }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    const writes = !READS.test(target) && !target.startsWith("GET ");
    if (writes && this.#count({ what: `${service} ${target}`, done: answer.ok })) {
      this.#die();
      return "reset" as const;
    }
    const passed = [...answer.headers].filter(([name]) => !["content-length", "transfer-encoding"].includes(name));
    return { status: answer.status, headers: Object.fromEntries(passed), body };
  }

  /** A cluster: a request that must be the last one is done, and never answered. */
  watch(name: string, cluster: SimulatedCluster): void {
    cluster.requestLog.subscribeReceived(({ verb, group, resource, subresource, user }) => {
      if (resource === undefined || group === undefined || !WRITING_VERBS.has(verb) || !isOurs(user)) return;
      const what = `${name} ${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}`;
      if (!this.#count({ what, done: true })) return;
      const before = cluster.engine.collectionVersion(group, resource);
      const hang = cluster.faults.add({ match: { resource }, when: "after", action: { kind: "hang" } });
      void until(() => cluster.engine.collectionVersion(group, resource) !== before).then(() => {
        hang.remove();
        this.#die();
      });
    });
    // What was refused did nothing.
    cluster.requestLog.subscribe(({ verb, resource, status, user }) => {
      if (resource === undefined || !WRITING_VERBS.has(verb) || !isOurs(user) || status < 300) return;
      const index = this.effects.findLastIndex(({ what }) => what.startsWith(`${name} ${verb} ${resource}`));
      const effect = this.effects[index];
      if (effect !== undefined) this.effects[index] = { ...effect, done: false };
    });
  }

  #count(effect: Effect): boolean {
    this.effects.push(effect);
    return this.effects.length - 1 === this.#killAfter;
  }

  #die(): void {
    this.killed = true;
    this.kill();
  }
}

function isOurs(user: string | undefined): boolean {
  return user === "system:serviceaccount:kube-system:hawser" || /:member-[^:]+$/.test(user ?? "");
}

function settings(): Readonly<Record<string, string>> {
  return {
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    HAWSER_STAGE: "test",
    HAWSER_TABLE: "hawser-test",
    HAWSER_SCHEDULE_GROUP: "hawser-test",
    HAWSER_SCHEDULER_ROLE_ARN: "arn:aws:iam::000000000000:role/scheduler",
    HAWSER_DEAD_LETTER_ARN: `arn:aws:sqs:${PLACE}:dead-letters`,
    HAWSER_FUNCTION_ARN_PREFIX: ARN,
    HAWSER_DEPLOYED_AT: "1796098984889",
    HAWSER_PARAMETER_PREFIX: "/hawser/test/",
  };
}
