import type { Clock } from "../../../lib/base/clock.ts";
import type { Body } from "./engine.ts";
import { type ItemKey, isBody } from "./keys.ts";

/** What goes wrong. */
export type TableFault =
  /** The table's capacity is used up: ProvisionedThroughputExceededException, nothing was done. */
  | { readonly kind: "throughputExceeded" }
  /** The account's limit is reached: ThrottlingException, nothing was done. */
  | { readonly kind: "throttled" }
  /** The work is done, the answer comes `ms` milliseconds later. */
  | { readonly kind: "latency"; readonly ms: number }
  /** The work is done, its answer is lost: the connection breaks, or with `silent` nothing comes at all. */
  | { readonly kind: "answerLost"; readonly silent?: boolean }
  /** The connection breaks before anything was done. */
  | { readonly kind: "reset" }
  /** Nothing is done and nothing is answered until the client gives up. */
  | { readonly kind: "hang" }
  /** InternalServerError, status 500; nothing was done. */
  | { readonly kind: "internalError" }
  /** Another transaction works on the item: TransactionConflictException, or a cancelled transaction with that reason. */
  | { readonly kind: "transactionConflict" };

/** Which requests a fault hits. */
export interface TableFaultRule {
  readonly fault: TableFault;
  /** Operation names such as `UpdateItem`; absent: all. */
  readonly operations?: readonly string[];
  /**
   * String key attributes that one of the request's items must have; a `*` at the end stands for anything. A query is
   * hit when one of its expression values fits. Absent: all.
   */
  readonly key?: Readonly<Record<string, string>>;
  /** How many requests are hit before the rule ends; absent: all. */
  readonly times?: number;
}

/** A rule in force. */
export interface InjectedFault {
  /** How many requests it has hit. */
  readonly hits: () => number;
  /** Ends it. */
  readonly remove: () => void;
}

/** The faults that are in force. */
export class TableFaults {
  readonly #clock: Clock;
  readonly #rules = new Set<{ rule: TableFaultRule; hits: number }>();
  #timers = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Puts a rule in force, behind those that are there. */
  inject(rule: TableFaultRule): InjectedFault {
    const entry = { rule, hits: 0 };
    this.#rules.add(entry);
    return { hits: () => entry.hits, remove: () => this.#rules.delete(entry) };
  }

  /**
   * The table cannot be reached at all.
   * @param forMs ends by itself after so many milliseconds; absent: when removed
   * @param fault how it cannot be reached; by default connections break
   */
  away(forMs?: number, fault: TableFault = { kind: "reset" }): InjectedFault {
    const injected = this.inject({ fault });
    if (forMs !== undefined) void this.#clock.sleep(forMs, this.#timers.signal).then(injected.remove);
    return injected;
  }

  /** Ends all rules. */
  clear(): void {
    this.#rules.clear();
    this.#timers.abort();
    this.#timers = new AbortController();
  }

  /** The fault that hits this request, counted as a hit. */
  take(operation: string, input: Body, keys: readonly ItemKey[]): TableFault | undefined {
    for (const entry of this.#rules) {
      if (entry.rule.operations?.includes(operation) === false) continue;
      if (entry.rule.key !== undefined && !touches(entry.rule.key, input, keys)) continue;
      entry.hits += 1;
      if (entry.hits >= (entry.rule.times ?? Infinity)) this.#rules.delete(entry);
      return entry.rule.fault;
    }
    return undefined;
  }
}

function touches(wanted: Readonly<Record<string, string>>, input: Body, keys: readonly ItemKey[]): boolean {
  const parts = Object.entries(wanted);
  if (keys.some((key) => parts.every(([name, pattern]) => fits(key.attributes[name], pattern)))) return true;
  const values = isBody(input["ExpressionAttributeValues"]) ? Object.values(input["ExpressionAttributeValues"]) : [];
  return (
    input["KeyConditionExpression"] !== undefined &&
    parts.every(([, pattern]) => values.some((value) => fits(value, pattern)))
  );
}

function fits(value: unknown, pattern: string): boolean {
  const text = isBody(value) ? value["S"] : undefined;
  if (typeof text !== "string") return false;
  return pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern;
}
