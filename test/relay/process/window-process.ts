import { deserialize, serialize } from "node:v8";
import { systemClock } from "../../../lib/base/clock.ts";
import { systemIds } from "../../../lib/base/ids.ts";
import { systemRandom } from "../../../lib/base/random.ts";
import { failed, ok, type Result } from "../../../lib/base/result.ts";
import type { BatonStore, RevisionSource, StoreFailure } from "../../../lib/relay/ports.ts";
import { Ticker } from "../../../lib/relay/ticker.ts";
import { DEFAULT_TIMING, type RelayTiming } from "../../../lib/relay/timing.ts";
import { runWindow } from "../../../lib/relay/window.ts";
import type { Question } from "./loopback-store.ts";
import type { Report } from "./report.ts";

// One window in a process of its own: `window-process.ts URL NAME`. It beats every 200 ms, and its baton expires at 500 ms.

const TIMING: RelayTiming = {
  ...DEFAULT_TIMING,
  intervalMs: 200,
  expiryMs: 500,
  skewMarginMs: 100,
  stopWritingMarginMs: 100,
  yieldRemainingMs: 20_000,
  anySuccessorRemainingMs: 12_000,
  releaseBeforeDeadlineMs: 1_000,
  settleMs: 200,
  lookEveryMs: 50,
  candidateMs: 2_000,
  storeTimeoutMs: 190,
  storeBackoff: { baseMs: 5, capMs: 40 },
  hot: { ...DEFAULT_TIMING.hot, renewEveryMs: 100, takeAfterMs: 300 },
};

const [url = "", name = ""] = process.argv.slice(2);
const deadlineMs = performance.now() + 60_000;

async function ask<T>(question: Question, signal?: AbortSignal): Promise<Result<T, StoreFailure>> {
  try {
    const answer = await fetch(url, { method: "POST", body: serialize(question), ...(signal && { signal }) });
    return ok(deserialize(Buffer.from(await answer.arrayBuffer())) as T);
  } catch (error) {
    return failed({ kind: "timeout", message: String(error) });
  }
}

const store: BatonStore & RevisionSource = {
  read: (key, signal) => ask({ kind: "read", key }, signal),
  change: (key, expect, change, signal) => ask({ kind: "change", key, expect, change }, signal),
  readRevision: (_shard, signal) => ask({ kind: "revision" }, signal),
};

async function report(what: Report): Promise<void> {
  await ask({ kind: "report", report: what });
}

const result = await runWindow({
  key: { role: "announce", scope: "s" },
  shard: "s",
  store,
  revisions: store,
  work: {
    prepare: async () => ok(undefined),
    work: async (hold) => {
      const ticker = new Ticker({
        clock: systemClock,
        intervalMs: TIMING.intervalMs,
        concurrency: 1,
        beat: () => report({ kind: "beat", process: name, fence: hold.fence, mayWrite: hold.mayWrite() }),
      });
      ticker.setTargets([{ name: "east", hub: "hub" }]);
      await ticker.run(hold.signal, hold.previousRoundAt);
    },
    close: async () => {},
  },
  clock: systemClock,
  random: systemRandom,
  ids: systemIds(systemClock, systemRandom),
  remainingMs: () => deadlineMs - performance.now(),
  deployedAt: 1,
  standby: "cold",
  repeatable: true,
  signal: new AbortController().signal,
  timing: TIMING,
  observe: (event) => {
    if (event.kind !== "renewed") void report({ kind: "event", process: name, event });
  },
});
await report({ kind: "ended", process: name, result });
