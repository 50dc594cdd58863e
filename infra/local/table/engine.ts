import { createRequire } from "node:module";
import db, { type DynaliteError, type Store } from "dynalite/db/index.js";
import validations from "dynalite/validations/index.js";

/** A DynamoDB request or answer body, still in JSON form. */
export type Body = Record<string, unknown>;

/** The answer to one operation; `status` 200 is success, anything else carries `__type` and `message`. */
export interface Answer {
  readonly status: number;
  readonly body: Body;
}

const OPERATIONS = [
  "BatchGetItem",
  "BatchWriteItem",
  "CreateTable",
  "DeleteItem",
  "DeleteTable",
  "DescribeTable",
  "GetItem",
  "ListTables",
  "ListTagsOfResource",
  "PutItem",
  "Query",
  "Scan",
  "TagResource",
  "UntagResource",
  "UpdateItem",
  "UpdateTable",
] as const;

/** What dynalite does by itself. */
export type EngineOperation = (typeof OPERATIONS)[number];

/** True when dynalite does the operation by itself. */
export function isEngineOperation(name: string): name is EngineOperation {
  return OPERATIONS.some((operation) => operation === name);
}

type Action = (store: Store, data: Body, done: (error: DynaliteError | null, answer?: Body) => void) => void;
interface Rules {
  readonly types: unknown;
  readonly custom?: unknown;
}

const load = createRequire(import.meta.url);

/**
 * dynalite without its HTTP layer: one hop and one parse less for each request, and conditions can be asked without a
 * write, which transactions need.
 */
export class Engine {
  readonly #store: Store;

  /** @param dataDir where the data lives; absent: in memory */
  constructor(dataDir?: string) {
    this.#store = db.create({
      ...(dataDir === undefined ? {} : { path: dataDir }),
      createTableMs: 0,
      deleteTableMs: 0,
      updateTableMs: 0,
    });
  }

  /** Does one operation. A change of a table is answered when it is in force. */
  async run(operation: EngineOperation, input: Body): Promise<Answer> {
    const data = this.#parse(operation, input);
    if ("status" in data) return data;
    const answer = await this.#act(operation, data.parsed);
    if (answer.status === 200 && /^(Create|Delete|Update)Table$/.test(operation)) await this.#settled(input);
    return answer;
  }

  /**
   * Asks whether a write would be accepted for `item` as it stands, without writing.
   * @returns the refusal, or undefined
   */
  check(operation: "PutItem" | "UpdateItem" | "DeleteItem", input: Body, item: Body | undefined): Answer | undefined {
    const data = this.#parse(operation, input);
    if ("status" in data) return data;
    const refusal = db.checkConditional(data.parsed, item);
    return refusal === null || refusal === undefined ? undefined : answerOf(refusal);
  }

  /** Waits for what is under way and closes the store. */
  async close(): Promise<void> {
    await this.#store.lifecycleManager.gracefulClose();
  }

  #parse(operation: EngineOperation, input: Body): Answer | { parsed: Body } {
    const rules = load(`dynalite/validations/${lowerFirst(operation)}.js`) as Rules;
    try {
      // dynalite takes its input apart in place: it gets a copy.
      const parsed = validations.checkTypes(structuredClone(input), rules.types);
      validations.checkValidations(parsed, rules.types, rules.custom, this.#store);
      return { parsed };
    } catch (error) {
      return answerOf(error as DynaliteError);
    }
  }

  async #act(operation: EngineOperation, data: Body): Promise<Answer> {
    const action = load(`dynalite/actions/${lowerFirst(operation)}.js`) as Action;
    return await new Promise<Answer>((resolve) => {
      action(this.#store, data, (error, answer) => {
        resolve(error === null || error === undefined ? { status: 200, body: answer ?? {} } : answerOf(error));
      });
    });
  }

  /** dynalite changes a table's state in a timer of 0 ms: waits for it, so that callers need not poll. */
  async #settled(input: Body): Promise<void> {
    for (let turn = 0; turn < 10_000; turn += 1) {
      const { status, body } = await this.#act("DescribeTable", { TableName: input["TableName"] });
      if (status !== 200 || (body["Table"] as Body | undefined)?.["TableStatus"] === "ACTIVE") return;
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

/** Size of an item as DynamoDB counts it, in bytes. */
export function itemBytes(item: Body): number {
  return db.itemSize(item);
}

function answerOf(error: DynaliteError): Answer {
  if (error.statusCode !== undefined && error.body !== undefined) {
    return { status: error.statusCode, body: error.body };
  }
  return { status: 500, body: { __type: "com.amazon.coral.service#InternalServerError", message: error.message } };
}

function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
