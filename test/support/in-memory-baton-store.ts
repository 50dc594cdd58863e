import { ok, type Result } from "../../lib/base/result.ts";
import type {
  BatonChange,
  BatonChangeResult,
  BatonExpectation,
  BatonKey,
  BatonRecord,
  BatonStore,
  StoreFailure,
} from "../../lib/relay/ports.ts";

/** A baton store in memory, for tests of the relay. Passes the same contract as the table. */
export class InMemoryBatonStore implements BatonStore {
  readonly #records = new Map<string, BatonRecord>();

  async read(key: BatonKey, _signal: AbortSignal): Promise<Result<BatonRecord | undefined, StoreFailure>> {
    return ok(this.peek(key));
  }

  async change(
    key: BatonKey,
    expect: BatonExpectation,
    change: BatonChange,
    _signal: AbortSignal,
  ): Promise<Result<BatonChangeResult, StoreFailure>> {
    return ok(this.apply(key, expect, change));
  }

  /** What stands there, at once. */
  peek(key: BatonKey): BatonRecord | undefined {
    return this.#records.get(nameOf(key));
  }

  /** One atomic conditional change, at once. */
  apply(key: BatonKey, expect: BatonExpectation, change: BatonChange): BatonChangeResult {
    const record = this.#records.get(nameOf(key));
    if (!holds(expect, record)) {
      if (record?.writeId === change.writeId) return { kind: "changed", record };
      return { kind: "refused", record };
    }
    const next = merged(record, change);
    this.#records.set(nameOf(key), next);
    return { kind: "changed", record: next };
  }
}

function nameOf(key: BatonKey): string {
  return `${key.role}#${key.scope}`;
}

function holds(expect: BatonExpectation, record: BatonRecord | undefined): boolean {
  if (expect === "absent") return record === undefined;
  if (record === undefined) return false;
  for (const field of ["fence", "renewals", "holder", "expiresAt", "yieldTo"] as const) {
    if (field in expect && expect[field] !== record[field]) return false;
  }
  if (expect.standbyId === undefined) return true;
  return (record.standby?.id ?? null) === expect.standbyId;
}

function merged(record: BatonRecord | undefined, change: BatonChange): BatonRecord {
  const all = Object.entries({ fence: 0, renewals: 0, ...record, ...change });
  return Object.freeze(Object.fromEntries(all.filter(([, value]) => value !== undefined))) as Readonly<BatonRecord>;
}
