import { crc32 } from "node:zlib";
import type { Clock } from "../../../lib/base/clock.ts";
import { never } from "../../../lib/base/result.ts";
import { type HttpReply, type HttpRequest, startLoopbackServer } from "../aws/loopback-server.ts";
import { type Answer, type Body, Engine, isEngineOperation } from "./engine.ts";
import { type TableFault, TableFaults } from "./faults.ts";
import { KeyLocks } from "./key-locks.ts";
import { type ItemKey, ItemKeys, isBody, lockName } from "./keys.ts";
import { refusal, refusalType } from "./refusals.ts";
import { TimeToLive } from "./time-to-live.ts";
import { cancellation, Transactions } from "./transactions.ts";

/** What the table needs. */
export interface TableOptions {
  readonly clock: Clock;
  /** Where the data lives over a restart; absent: in memory. Time-to-live settings are not kept. */
  readonly dataDir?: string;
}

/** A running DynamoDB. */
export interface Table {
  /** For `AWS_ENDPOINT_URL_DYNAMODB`. */
  readonly url: string;
  readonly faults: TableFaults;
  /** How often each operation was asked, faults included. */
  requests(): Readonly<Record<string, number>>;
  /** Deletes what has expired at `now`; returns how many items. */
  sweep(now: Date): Promise<number>;
  /** Ends all connections and closes the store. */
  stop(): Promise<void>;
}

/**
 * Starts DynamoDB on 127.0.0.1: dynalite, and around it what dynalite lacks (transactions, the old item of a failed
 * condition, time to live) and what tests need (faults).
 */
export async function startTable(options: TableOptions): Promise<Table> {
  const front = new TableFront(options);
  const server = await startLoopbackServer(async (request) => await front.serve(request));
  return {
    url: server.url,
    faults: front.faults,
    requests: () => Object.fromEntries(front.counts),
    sweep: async (now) => await front.timeToLive.sweep(now),
    stop: async () => {
      front.faults.clear();
      await server.stop();
      await front.close();
    },
  };
}

class TableFront {
  readonly faults: TableFaults;
  readonly timeToLive: TimeToLive;
  readonly counts = new Map<string, number>();
  readonly #clock: Clock;
  readonly #engine: Engine;
  readonly #keys: ItemKeys;
  readonly #locks = new KeyLocks();
  readonly #transactions: Transactions;
  readonly #working = new Set<Promise<unknown>>();

  constructor({ clock, dataDir }: TableOptions) {
    this.#clock = clock;
    this.#engine = new Engine(dataDir);
    this.#keys = new ItemKeys(this.#engine);
    this.#transactions = new Transactions({ engine: this.#engine, keys: this.#keys, locks: this.#locks, clock });
    this.timeToLive = new TimeToLive(this.#engine);
    this.faults = new TableFaults(clock);
  }

  async serve(request: HttpRequest): Promise<HttpReply> {
    const [api, operation] = String(request.headers["x-amz-target"] ?? "").split(".");
    if (api !== "DynamoDB_20120810" || operation === undefined) return reply(unknownOperation());
    if (request.headers.authorization?.startsWith("AWS4-") !== true) return reply(missingToken());
    const input = parse(request.body);
    if (input === undefined) {
      return reply({ status: 400, body: { __type: "com.amazon.coral.service#SerializationException" } });
    }
    const work = this.#answer(operation, input, request.signal);
    this.#working.add(work);
    try {
      return await work;
    } finally {
      this.#working.delete(work);
    }
  }

  /** Closes the store when nothing works with it any more: dynalite would end the process otherwise. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#working);
    await this.#engine.close();
  }

  async #answer(operation: string, input: Body, signal: AbortSignal): Promise<HttpReply> {
    this.counts.set(operation, (this.counts.get(operation) ?? 0) + 1);
    const keys = await this.#keys.of(operation, input);
    const fault = this.faults.take(operation, input, keys);
    const instead = fault === undefined ? undefined : await refusedBy(fault, operation, input, signal);
    if (instead !== undefined) return instead === "reset" ? instead : reply(instead);
    const answer = await this.#work(operation, input, keys);
    if (fault?.kind === "latency") await this.#clock.sleep(fault.ms, signal);
    if (fault?.kind === "answerLost") {
      if (fault.silent === true) await gone(signal);
      return "reset";
    }
    return reply(answer);
  }

  async #work(operation: string, input: Body, keys: readonly ItemKey[]): Promise<Answer> {
    switch (operation) {
      case "TransactWriteItems":
        return await this.#transactions.write(input);
      case "TransactGetItems":
        return await this.#transactions.read(input);
      case "UpdateTimeToLive":
        return await this.timeToLive.update(input);
      case "DescribeTimeToLive":
        return await this.timeToLive.describe(input);
      default:
        if (!isEngineOperation(operation)) return unknownOperation();
    }
    // A batch read may show a transaction half done, as DynamoDB's may; a single read never does.
    const locked = operation === "BatchGetItem" ? [] : keys.map(lockName);
    const answer = await this.#locks.run(locked, async () => {
      const done = await this.#engine.run(operation, input);
      return await this.#withOldItem(input, keys, done);
    });
    if (operation === "CreateTable" || operation === "DeleteTable") this.#keys.forget();
    if (operation === "DeleteTable" && answer.status === 200) this.timeToLive.forget(String(input["TableName"]));
    return answer;
  }

  /** Adds the item that refused a condition when the client asked for it. The item's lock is held. */
  async #withOldItem(input: Body, [key]: readonly ItemKey[], answer: Answer): Promise<Answer> {
    const wanted = input["ReturnValuesOnConditionCheckFailure"] === "ALL_OLD";
    if (!wanted || key === undefined || refusalType(answer) !== "ConditionalCheckFailedException") return answer;
    const read = await this.#engine.run("GetItem", {
      TableName: key.table,
      Key: key.attributes,
      ConsistentRead: true,
    });
    const item = read.body["Item"];
    return item === undefined ? answer : { status: answer.status, body: { ...answer.body, Item: item } };
  }
}

/** The answer of a fault that keeps the work from being done; undefined for the others. */
async function refusedBy(
  fault: TableFault,
  operation: string,
  input: Body,
  signal: AbortSignal,
): Promise<Answer | "reset" | undefined> {
  switch (fault.kind) {
    case "throughputExceeded":
      return refusal(
        "ProvisionedThroughputExceededException",
        "The level of configured provisioned throughput for the table was exceeded.",
      );
    case "throttled":
      return {
        status: 400,
        body: { __type: "com.amazon.coral.availability#ThrottlingException", message: "Rate exceeded" },
      };
    case "internalError":
      return refusal("InternalServerError", "Internal server error", {}, 500);
    case "transactionConflict":
      return conflict(operation, input);
    case "reset":
      return "reset";
    case "hang":
      await gone(signal);
      return "reset";
    case "latency":
    case "answerLost":
      return undefined;
    default:
      return never(fault);
  }
}

function conflict(operation: string, input: Body): Answer {
  const text = "Transaction is ongoing for the item";
  if (operation !== "TransactWriteItems") return refusal("TransactionConflictException", text);
  const count = Array.isArray(input["TransactItems"]) ? input["TransactItems"].length : 1;
  return cancellation(
    Array.from({ length: count }, (_, i) =>
      i === 0 ? { Code: "TransactionConflict", Message: text } : { Code: "None" },
    ),
  );
}

async function gone(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function parse(body: Buffer): Body | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return isBody(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function unknownOperation(): Answer {
  return { status: 400, body: { __type: "com.amazon.coral.service#UnknownOperationException" } };
}

function missingToken(): Answer {
  return {
    status: 400,
    body: {
      __type: "com.amazon.coral.service#MissingAuthenticationTokenException",
      message: "Request is missing Authentication Token",
    },
  };
}

function reply(answer: Answer): HttpReply {
  const body = JSON.stringify(answer.body);
  return {
    status: answer.status,
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-crc32": String(crc32(body)) },
    body,
  };
}
