import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { WindowEvent } from "../../../lib/relay/window-options.ts";
import { LoopbackStore } from "./loopback-store.ts";
import type { Report } from "./report.ts";

const PROGRAM = fileURLToPath(new URL("window-process.ts", import.meta.url));

/** Windows in processes of their own, all of them gone when the test ends. */
class Processes {
  readonly store: LoopbackStore;
  readonly #children = new Map<string, ChildProcess>();

  private constructor(store: LoopbackStore) {
    this.store = store;
  }

  static async start(t: TestContext): Promise<Processes> {
    const processes = new Processes(await LoopbackStore.start());
    t.after(() => {
      for (const child of processes.#children.values()) child.kill("SIGKILL");
      processes.store.stop();
    });
    return processes;
  }

  invoke(name: string): void {
    this.#children.set(name, spawn(process.execPath, [PROGRAM, this.store.url, name], { stdio: "inherit" }));
  }

  signal(name: string, signal: NodeJS.Signals): void {
    assert.equal(this.#children.get(name)?.kill(signal), true);
  }

  /** Invokes one window after another, as firings do, until one of them takes the baton. */
  async invokeUntilTaken(prefix: string): Promise<{ readonly name: string; readonly fence: number }> {
    for (let count = 1; ; count += 1) {
      const name = `${prefix}${count}`;
      this.invoke(name);
      const came = await this.store.report(
        (report) => report.process === name && (isTake(report) || report.kind === "ended"),
      );
      if (isTake(came)) return { name, fence: came.event.fence };
    }
  }
}

type Take = Extract<Report, { kind: "event" }> & { readonly event: Extract<WindowEvent, { kind: "taken" }> };

function isTake(report: Report): report is Take {
  return report.kind === "event" && report.event.kind === "taken";
}

function isWrite(report: Report): report is Extract<Report, { kind: "beat" }> {
  return report.kind === "beat" && report.mayWrite;
}

function assertWritesInOrder(reports: readonly Report[]): void {
  const fences = reports.filter(isWrite).map((report) => report.fence);
  assert.deepEqual(
    fences,
    fences.toSorted((a, b) => a - b),
  );
}

describe("windows in processes of their own", { timeout: 120_000 }, () => {
  test("one that is killed is replaced, under a higher fence", async (t) => {
    const processes = await Processes.start(t);
    const first = await processes.invokeUntilTaken("first-");
    await processes.store.report((report) => report.process === first.name && isWrite(report));

    processes.signal(first.name, "SIGKILL");
    const second = await processes.invokeUntilTaken("second-");
    await processes.store.report((report) => report.process === second.name && isWrite(report));

    assert.ok(second.fence > first.fence);
    assertWritesInOrder(processes.store.reports);
  });

  test("one that is stopped beyond its expiry writes nothing when it goes on, and ends", async (t) => {
    const processes = await Processes.start(t);
    const first = await processes.invokeUntilTaken("first-");
    await processes.store.report((report) => report.process === first.name && isWrite(report));

    processes.signal(first.name, "SIGSTOP");
    const second = await processes.invokeUntilTaken("second-");
    await processes.store.report((report) => report.process === second.name && isWrite(report));
    const resumedAt = processes.store.reports.length;
    processes.signal(first.name, "SIGCONT");
    const ended = await processes.store.report((report) => report.process === first.name && report.kind === "ended");

    assert.ok(second.fence > first.fence);
    assert.equal(ended.kind === "ended" && ended.result.kind === "worked" && ended.result.ended, "superseded");
    const after = processes.store.reports.slice(resumedAt);
    assert.equal(after.filter((report) => report.process === first.name && isWrite(report)).length, 0);
    assertWritesInOrder(processes.store.reports);
  });

  test("of two that start at once, each fence has one, and only who holds it beats", async (t) => {
    const processes = await Processes.start(t);
    const { store } = processes;

    // A busy machine may be too slow for both to reach the store in time; the next firing starts two again.
    for (let firing = 1; firing <= 20 && !store.reports.some(isTake); firing += 1) {
      const names = [`a${firing}`, `b${firing}`];
      for (const name of names) processes.invoke(name);
      // The first may also lose the baton again before the second looks: both orders are right.
      for (const name of names) {
        await store.report((report) => report.process === name && (report.kind === "ended" || isWrite(report)));
      }
    }

    const takes = store.reports.filter(isTake).map((report) => report.event.fence);
    assert.ok(takes.length > 0);
    assert.deepEqual(
      takes,
      [...new Set(takes)].toSorted((x, y) => x - y),
    );
    const holders = new Set(store.reports.filter(isTake).map((report) => report.process));
    for (const report of store.reports) if (report.kind === "beat") assert.ok(holders.has(report.process));
    assertWritesInOrder(store.reports);
  });
});
