import type { Random } from "../../../lib/base/random.ts";
import { failed, ok, type Result } from "../../../lib/base/result.ts";
import type {
  BatonChange,
  BatonChangeResult,
  BatonExpectation,
  BatonKey,
  BatonRecord,
  BatonStore,
  RevisionSource,
  StoreFailure,
} from "../../../lib/relay/ports.ts";
import { InMemoryBatonStore } from "../../support/in-memory-baton-store.ts";
import type { SimulatedProcess } from "./process.ts";
import type { World } from "./world.ts";

/** How likely the store misbehaves, per call, each from 0 to 1; latency in milliseconds. */
export interface StoreFaults {
  readonly throttled: number;
  /** The call is done, its answer does not come. */
  readonly lostAnswer: number;
  /** The call arrives only seconds later. */
  readonly late: number;
  readonly latencyMs: number;
}

/** A store that answers at once and always. */
export const NO_FAULTS: StoreFaults = { throttled: 0, lostAnswer: 0, late: 0, latencyMs: 5 };

/** The store of the simulation, and what it has seen. */
export class SimulatedStore {
  readonly inner = new InMemoryBatonStore();
  faults: StoreFaults = NO_FAULTS;
  outage = false;
  revision = 1;
  reads = 0;
  changes = 0;
  /** Told of every change that was made. */
  onChanged: (before: BatonRecord | undefined, after: BatonRecord) => void = () => {};
  /** What a deliberately broken store makes of an expectation. */
  expectation: (expect: BatonExpectation, change: BatonChange, stands: BatonRecord | undefined) => BatonExpectation = (
    expect,
  ) => expect;
  readonly #world: World;
  readonly #random: Random;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** The store as one process sees it. */
  clientOf(process: SimulatedProcess): BatonStore & RevisionSource {
    return {
      read: async (key, signal) => {
        this.reads += 1;
        return this.#call(process, signal, () => this.inner.peek(key));
      },
      change: async (key, expect, change, signal) => {
        this.changes += 1;
        return this.#call(process, signal, () => this.#change(key, expect, change));
      },
      readRevision: async (_shard, signal) => this.#call(process, signal, () => this.revision),
    };
  }

  #change(key: BatonKey, expect: BatonExpectation, change: BatonChange): BatonChangeResult {
    const before = this.inner.peek(key);
    const answer = this.inner.apply(key, this.expectation(expect, change, before), change);
    if (answer.kind === "changed" && answer.record !== before) this.onChanged(before, answer.record);
    return answer;
  }

  async #call<T>(process: SimulatedProcess, signal: AbortSignal, act: () => T): Promise<Result<T, StoreFailure>> {
    const { throttled, lostAnswer, late, latencyMs } = this.faults;
    const chance = this.#random.next();
    const thereMs = latencyMs * (0.5 + this.#random.next()) + (this.#random.next() < late ? 8_000 * chance : 0);
    const backMs = latencyMs * (0.5 + this.#random.next());
    return new Promise((resolve) => {
      const answer = (result: Result<T, StoreFailure>): void => {
        signal.removeEventListener("abort", timeout);
        resolve(result);
      };
      const timeout = (): void => answer(failed({ kind: "timeout", message: "no answer in time" }));
      if (signal.aborted) return timeout();
      signal.addEventListener("abort", timeout, { once: true });
      this.#world.at(this.#world.nowMs + thereMs, () => {
        if (this.outage) return;
        const refused = chance < throttled;
        const result: Result<T, StoreFailure> = refused
          ? failed({ kind: "throttled", message: "slow down" })
          : ok(act());
        if (!refused && chance > 1 - lostAnswer) return;
        this.#world.at(this.#world.nowMs + backMs, () => process.deliver(() => answer(result)));
      });
    });
  }
}
