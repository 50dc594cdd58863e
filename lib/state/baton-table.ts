import { createHash } from "node:crypto";
import { ok, type Result } from "../base/result.ts";
import {
  type BatonExceptions,
  batonSchema,
  divideExceptions,
  EXCEPTIONS_PER_ITEM,
  exceptionPartSchema,
  type StoredBaton,
} from "./baton-item.ts";
import type { StateError } from "./errors.ts";
import { readItem } from "./items.ts";
import { keys } from "./keys.ts";
import type { StoreParts } from "./store-parts.ts";
import { allOf, assign, type Expression, expr, path, value } from "./table/expression.ts";
import type { Item } from "./table/table.ts";
import { absent, arrivedBefore, equals, present } from "./writes.ts";

/** Names one baton. */
export interface BatonName {
  readonly role: string;
  readonly scope: string;
}

/** Fields to set; `undefined` removes a field. */
export type BatonFields = { readonly [K in keyof Omit<StoredBaton, "writeId">]?: StoredBaton[K] | undefined } & {
  readonly writeId: string;
};

/** What must hold: no baton at all, or a baton whose named fields are equal (`undefined`: absent). */
export type BatonCondition =
  | "absent"
  | ({ readonly [K in "fence" | "renewals" | "holder" | "expiresAt" | "yieldTo"]?: StoredBaton[K] | undefined } & {
      readonly standbyId?: string | null;
    });

/** What came of a change. */
export type BatonAnswer =
  | { readonly kind: "changed"; readonly record: StoredBaton }
  | { readonly kind: "refused"; readonly record: StoredBaton | undefined };

/** How often exceptions that go on are written when only their counts move, in milliseconds. */
const REPEAT_MS = 60_000;

/**
 * Batons in the table: what the relay's ports `BatonStore` and `RevisionSource` ask for. A change is one conditional
 * update of single fields, so that a holder's renewal and a newer deployment's wish to take over do not undo each other.
 */
export class BatonTable {
  readonly #parts: StoreParts;
  /** What was last written beside each baton, and when, so that the same is not written with every renewal. */
  readonly #overflow = new Map<string, { readonly digest: string; readonly atMs: number }>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
  }

  async read(name: BatonName, signal: AbortSignal): Promise<Result<StoredBaton | undefined, StateError>> {
    const call = { what: `read the baton ${nameOf(name)}`, signal };
    const read = await this.#parts.table.get(keys.baton(name.role, name.scope), call);
    return read.ok ? recordOf(read.value) : read;
  }

  async change(
    name: BatonName,
    expect: BatonCondition,
    change: BatonFields,
    signal: AbortSignal,
  ): Promise<Result<BatonAnswer, StateError>> {
    const call = { what: `change the baton ${nameOf(name)}`, signal };
    const { first, rest } = divideExceptions(change.exceptions ?? {});
    const more = rest.reduce((count, part) => count + Object.keys(part).length, change.moreExceptions ?? 0);
    const fields = {
      ...change,
      ...(change.exceptions === undefined ? {} : { exceptions: first }),
      ...(rest.length === 0 ? {} : { moreExceptions: more }),
    };
    const key = keys.baton(name.role, name.scope);
    const write = { kind: "update", key, update: assign(fields), condition: conditionOf(expect) } as const;
    const answer = await this.#parts.table.write(write, call);
    if (!answer.ok) return answer;
    const arrived = answer.value.kind === "written" || arrivedBefore(answer.value, change.writeId);
    const record = recordOf(answer.value.kind === "written" ? answer.value.item : answer.value.standing);
    if (!record.ok) return record;
    if (!arrived || record.value === undefined) return ok({ kind: "refused", record: record.value });
    if (rest.length > 0) await this.#writeRest(name, record.value.fence, rest, signal);
    return ok({ kind: "changed", record: record.value });
  }

  /** The shard's revision, strongly consistent; 0 when there is no such shard. */
  async readRevision(shard: string, signal: AbortSignal): Promise<Result<number, StateError>> {
    const read = await this.#parts.table.get(keys.shard(shard), {
      what: `read the revision of shard ${shard}`,
      signal,
    });
    if (!read.ok) return read;
    const revision = read.value?.["revision"];
    return ok(typeof revision === "number" ? revision : 0);
  }

  /** All exceptions of the present holder's last report, those that did not fit into the baton included. */
  async readExceptions(name: BatonName, signal: AbortSignal): Promise<Result<BatonExceptions, StateError>> {
    const baton = await this.read(name, signal);
    if (!baton.ok) return baton;
    const { exceptions = {}, moreExceptions = 0, fence } = baton.value ?? {};
    const parts = Array.from({ length: Math.ceil(moreExceptions / EXCEPTIONS_PER_ITEM) }, (_, i) =>
      keys.batonExceptions(name.role, name.scope, i + 1),
    );
    const found = await this.#parts.table.getMany(parts, { what: `read the exceptions of ${nameOf(name)}`, signal });
    if (!found.ok) return found;
    let all = exceptions;
    for (const item of found.value) {
      const part = readItem(exceptionPartSchema, item);
      if (!part.ok) return part;
      if (part.value.fence === fence) all = { ...all, ...part.value.exceptions };
    }
    return ok(all);
  }

  /**
   * Writes what did not fit, when other clusters or kinds are concerned than before, or once a minute. A failure does
   * not undo the renewal that went before it: the next renewal writes again.
   */
  async #writeRest(
    name: BatonName,
    fence: number,
    rest: readonly BatonExceptions[],
    signal: AbortSignal,
  ): Promise<void> {
    const digest = digestOf(fence, rest);
    const last = this.#overflow.get(nameOf(name));
    const nowMs = this.#parts.clock.now().getTime();
    if (last?.digest === digest && Math.abs(nowMs - last.atMs) < REPEAT_MS) return;
    const call = { what: `write the exceptions of ${nameOf(name)}`, signal };
    for (const [i, exceptions] of rest.entries()) {
      const item = { ...keys.batonExceptions(name.role, name.scope, i + 1), fence, exceptions };
      const condition = expr`attribute_not_exists(${path("pk")}) OR ${path("fence")} <= ${value(fence)}`;
      const answer = await this.#parts.table.write({ kind: "put", item, condition }, call);
      if (!answer.ok) return;
    }
    this.#overflow.set(nameOf(name), { digest, atMs: nowMs });
  }
}

function conditionOf(expect: BatonCondition): Expression | undefined {
  if (expect === "absent") return absent;
  const { standbyId, ...fields } = expect;
  const standby = path("standby");
  return allOf([
    present,
    ...Object.entries(fields).map(([name, of]) =>
      of === undefined ? expr`attribute_not_exists(${path(name)})` : equals(name, of),
    ),
    ...(standbyId === null ? [expr`attribute_not_exists(${standby})`] : []),
    ...(typeof standbyId === "string" ? [expr`${path("standby", "id")} = ${value(standbyId)}`] : []),
  ]);
}

function recordOf(item: Item | undefined): Result<StoredBaton | undefined, StateError> {
  return item === undefined ? ok(undefined) : readItem(batonSchema, item);
}

function nameOf({ role, scope }: BatonName): string {
  return `${role}/${scope}`;
}

/** Tells whether the same clusters have the same trouble since the same time: counts are left out. */
function digestOf(fence: number, rest: readonly BatonExceptions[]): string {
  const lines = rest.flatMap((part) => Object.entries(part).map(([cluster, e]) => `${cluster} ${e.kind} ${e.since}`));
  return createHash("sha256")
    .update([fence, ...lines].join("\n"))
    .digest("hex");
}
