import { type Clock } from "../../../lib/base/clock.ts";
import { type Answer, type Body, type Engine, itemBytes } from "./engine.ts";
import type { KeyLocks } from "./key-locks.ts";
import { type ItemKey, type ItemKeys, isBody, lockName } from "./keys.ts";
import { refusal, refusalMessage, refusalType, validationRefusal } from "./refusals.ts";

const MAX_ACTIONS = 100;
const MAX_BYTES = 4 * 1024 * 1024;
/** How long a ClientRequestToken is remembered (DynamoDB API reference: 10 minutes after the request is finished). */
const TOKEN_MS = 10 * 60_000;

const WRITES = { Put: "PutItem", Update: "UpdateItem", Delete: "DeleteItem", ConditionCheck: "DeleteItem" } as const;

interface Step {
  readonly kind: keyof typeof WRITES;
  readonly input: Body;
  readonly key: ItemKey;
  readonly returnOld: boolean;
}

interface Remembered {
  readonly request: string;
  readonly answer: Promise<Answer>;
  finishedAtMs?: number;
}

/** TransactWriteItems and TransactGetItems, which dynalite lacks. */
export class Transactions {
  readonly #engine: Engine;
  readonly #keys: ItemKeys;
  readonly #locks: KeyLocks;
  readonly #clock: Clock;
  readonly #tokens = new Map<string, Remembered>();

  constructor(parts: { engine: Engine; keys: ItemKeys; locks: KeyLocks; clock: Clock }) {
    this.#engine = parts.engine;
    this.#keys = parts.keys;
    this.#locks = parts.locks;
    this.#clock = parts.clock;
  }

  /** All writes or none. The same token with the same request is answered again without being done again. */
  async write(input: Body): Promise<Answer> {
    const token = input["ClientRequestToken"];
    if (typeof token !== "string") return await this.#writeNew(input);
    this.#forgetOldTokens();
    const request = JSON.stringify({ ...input, ClientRequestToken: undefined });
    const known = this.#tokens.get(token);
    if (known !== undefined && known.request !== request) {
      return refusal(
        "IdempotentParameterMismatchException",
        "The request uses the same client token as a previous, but non-identical request.",
      );
    }
    if (known !== undefined) return await known.answer;
    const entry: Remembered = { request, answer: this.#writeNew(input) };
    this.#tokens.set(token, entry);
    const answer = await entry.answer;
    // Only a success is remembered: a cancelled transaction may be sent again.
    if (answer.status === 200) entry.finishedAtMs = this.#clock.monotonicMs();
    else this.#tokens.delete(token);
    return answer;
  }

  /** A consistent read of several items. */
  async read(input: Body): Promise<Answer> {
    const gets = actions(input).map((item) => item["Get"]);
    const problem = sizeProblem(gets.length);
    if (problem !== undefined) return problem;
    const keys = await this.#keys.of("TransactGetItems", input);
    return await this.#locks.run(keys.map(lockName), async () => {
      const responses: Body[] = [];
      for (const get of gets) {
        if (!isBody(get)) return validationRefusal("TransactItems can only contain one of Get");
        const answer = await this.#engine.run("GetItem", { ...get, ConsistentRead: true });
        if (answer.status !== 200) return answer;
        responses.push(answer.body["Item"] === undefined ? {} : { Item: answer.body["Item"] });
      }
      return { status: 200, body: { Responses: responses } };
    });
  }

  async #writeNew(input: Body): Promise<Answer> {
    const steps = await this.#steps(input);
    if ("status" in steps) return steps;
    return await this.#locks.run(
      steps.map((step) => lockName(step.key)),
      async () => await this.#apply(steps),
    );
  }

  async #steps(input: Body): Promise<Step[] | Answer> {
    const items = actions(input);
    const problem = sizeProblem(items.length);
    if (problem !== undefined) return problem;
    const steps: Step[] = [];
    let bytes = 0;
    for (const item of items) {
      const [entry, ...others] = Object.entries(item).filter(([, action]) => isBody(action));
      if (entry === undefined || others.length > 0 || !isKind(entry[0]) || !isBody(entry[1])) {
        return validationRefusal("TransactItems can only contain one of Check, Put, Update or Delete");
      }
      const [kind, action] = [entry[0], entry[1]];
      const { ReturnValuesOnConditionCheckFailure: wanted, ...operation } = action;
      if (kind === "ConditionCheck" && typeof operation["ConditionExpression"] !== "string") {
        return validationRefusal("The ConditionExpression parameter must be specified for ConditionCheck");
      }
      const [key] = await this.#keys.of("TransactWriteItems", { TransactItems: [item] });
      if (key === undefined) return await this.#tableProblem(operation);
      bytes += isBody(operation["Item"]) ? itemBytes(operation["Item"]) : 0;
      steps.push({ kind, input: operation, key, returnOld: wanted === "ALL_OLD" });
    }
    if (new Set(steps.map((step) => lockName(step.key))).size < steps.length) {
      return validationRefusal("Transaction request cannot include multiple operations on one item");
    }
    return bytes > MAX_BYTES ? validationRefusal("Aggregated size of the Transaction Request exceeds 4MB") : steps;
  }

  /** Why an action's item could not be found: no such table, or no key in the request. */
  async #tableProblem(operation: Body): Promise<Answer> {
    const table = await this.#engine.run("DescribeTable", { TableName: operation["TableName"] });
    if (table.status === 200) return validationRefusal("The provided key element does not match the schema");
    return refusal("ResourceNotFoundException", "Requested resource not found");
  }

  async #apply(steps: readonly Step[]): Promise<Answer> {
    const before: (Body | undefined)[] = [];
    for (const step of steps) {
      const read = await this.#engine.run("GetItem", {
        TableName: step.key.table,
        Key: step.key.attributes,
        ConsistentRead: true,
      });
      if (read.status !== 200) return read;
      before.push(isBody(read.body["Item"]) ? read.body["Item"] : undefined);
    }
    // Nothing is written until every condition holds: readers outside the locks never see a write that is taken back.
    const refusals = steps.map((step, i) => this.#engine.check(WRITES[step.kind], step.input, before[i]));
    const malformed = refusals.find((r) => r !== undefined && refusalType(r) !== "ConditionalCheckFailedException");
    if (malformed !== undefined) return malformed;
    if (refusals.some((r) => r !== undefined)) return cancelled(steps, refusals, before);
    return await this.#writeAll(steps, before);
  }

  /** Writes one by one. What only the write itself finds out (a wrong type, an item too large) undoes those before it. */
  async #writeAll(steps: readonly Step[], before: readonly (Body | undefined)[]): Promise<Answer> {
    for (const [i, step] of steps.entries()) {
      if (step.kind === "ConditionCheck") continue;
      const answer = await this.#engine.run(WRITES[step.kind], step.input);
      if (answer.status === 200) continue;
      for (const [j, done] of steps.slice(0, i).entries()) await this.#restore(done, before[j]);
      return cancelled(
        steps,
        steps.map((_, j) => (j === i ? answer : undefined)),
        before,
      );
    }
    return { status: 200, body: {} };
  }

  async #restore(step: Step, item: Body | undefined): Promise<void> {
    const TableName = step.key.table;
    if (item === undefined) await this.#engine.run("DeleteItem", { TableName, Key: step.key.attributes });
    else await this.#engine.run("PutItem", { TableName, Item: item });
  }

  #forgetOldTokens(): void {
    const now = this.#clock.monotonicMs();
    for (const [token, { finishedAtMs }] of this.#tokens) {
      if (finishedAtMs === undefined) continue;
      if (now - finishedAtMs < TOKEN_MS) break;
      this.#tokens.delete(token);
    }
  }
}

function actions(input: Body): Body[] {
  return Array.isArray(input["TransactItems"]) ? input["TransactItems"].filter(isBody) : [];
}

function isKind(name: string): name is keyof typeof WRITES {
  return Object.hasOwn(WRITES, name);
}

function sizeProblem(count: number): Answer | undefined {
  if (count >= 1 && count <= MAX_ACTIONS) return undefined;
  const bound = count < 1 ? `greater than or equal to 1` : `less than or equal to ${MAX_ACTIONS}`;
  return validationRefusal(
    `1 validation error detected: Value at 'transactItems' failed to satisfy constraint: Member must have length ${bound}`,
  );
}

function cancelled(
  steps: readonly Step[],
  refusals: readonly (Answer | undefined)[],
  before: readonly (Body | undefined)[],
): Answer {
  const reasons = steps.map((step, i): Body => {
    const why = refusals[i];
    if (why === undefined) return { Code: "None" };
    const failedCondition = refusalType(why) === "ConditionalCheckFailedException";
    return {
      Code: failedCondition ? "ConditionalCheckFailed" : "ValidationError",
      Message: refusalMessage(why),
      ...(failedCondition && step.returnOld && before[i] !== undefined ? { Item: before[i] } : {}),
    };
  });
  return cancellation(reasons);
}

/** The answer to a transaction that was not done, with a reason for each of its actions. */
export function cancellation(reasons: readonly Body[]): Answer {
  const codes = reasons.map((reason) => reason["Code"]).join(", ");
  const text = `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`;
  const { body } = refusal("TransactionCanceledException", text, { Message: text, CancellationReasons: reasons });
  return { status: 400, body };
}
