import assert from "node:assert/strict";
import { test } from "node:test";
import { failed, ok } from "../../lib/base/result.ts";
import { type SweepPorts, sweep } from "../../lib/runtime/sweep.ts";
import type { State } from "../../lib/state/state.ts";
import { specOf } from "../state/membership-samples.ts";
import { must, never, startTestServer } from "../state/test-table.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { SETTINGS } from "./lifecycle-world.ts";

const server = await startTestServer();
const HOLD = { signal: never, mayWrite: () => true };

/** A scheduler that a person also uses. */
class Console {
  readonly names = new Map<string, "ENABLED" | "DISABLED">();
  broken = new Set<string>();
  readonly left: string[] = [];

  ports(state: State): SweepPorts {
    return {
      clock: new FakeClock(),
      shards: state,
      memberships: state,
      scheduler: {
        ensure: async ({ name }) => {
          if (this.broken.has(name)) return failed({ kind: "throttled", message: `ensure ${name}: throttled` });
          const state = this.names.get(name);
          this.names.set(name, state ?? "ENABLED");
          return ok({ outcome: state === undefined ? "created" : "unchanged", paused: state === "DISABLED" });
        },
        remove: async ({ name }) => ok(this.names.delete(name) ? "removed" : "absent"),
      },
      leaveOn: async ({ cluster }) => {
        this.left.push(cluster);
        return cluster === "stuck" ? { message: "no answer" } : "left";
      },
    };
  }
}

async function stateWith(...clusters: readonly string[]): Promise<State> {
  const state = (await server.table()).open();
  for (const cluster of clusters) {
    const spec = specOf(cluster, { networkProfile: cluster });
    must(await state.createMembership({ spec, createdBy: "test" }, never));
  }
  return state;
}

test("a schedule that a person has deleted comes back, one that a person has disabled stays so and is shown", async () => {
  const state = await stateWith("a", "b");
  const console = new Console();
  console.names.set("hawser-dev-announce-b-1", "DISABLED");

  const first = must(await sweep(SETTINGS, console.ports(state), HOLD));
  const disabled = must(await state.readShard("b-1", never))?.disabledRoles;
  console.names.set("hawser-dev-announce-b-1", "ENABLED");
  await sweep(SETTINGS, console.ports(state), HOLD);

  assert.deepEqual(first.schedules, ["hawser-dev-announce-a-1"]);
  assert.deepEqual([first.shards, disabled], [2, ["announce"]]);
  assert.deepEqual(must(await state.readShard("b-1", never))?.disabledRoles, []);
});

test("what one shard meets does not concern the others", async () => {
  const state = await stateWith("a", "b", "c");
  const console = new Console();
  console.broken.add("hawser-dev-announce-b-1");

  const swept = must(await sweep(SETTINGS, console.ports(state), HOLD));

  assert.deepEqual([...console.names.keys()], ["hawser-dev-announce-a-1", "hawser-dev-announce-c-1"]);
  assert.match(swept.faults.join(), /throttled/);
});

test("only leaves whose time has come are tried, and those that do not get further do not stop the others", async () => {
  const state = await stateWith("due", "stuck", "later", "joining");
  const leave = { force: false, startedAt: 1, attempts: 1 };
  const now = new FakeClock().now().getTime();
  for (const [cluster, nextAttemptAt] of [
    ["due", now],
    ["stuck", now - 1],
    ["later", now + 1],
  ] as const) {
    const change = { phase: "leaving", leave: { ...leave, nextAttemptAt } } as const;
    must(await state.updateMembership({ cluster, protocol: "antrea" }, change, {}, never));
  }
  const console = new Console();

  const swept = must(await sweep(SETTINGS, console.ports(state), HOLD));

  assert.deepEqual(console.left.toSorted(), ["due", "stuck"]);
  assert.deepEqual([swept.left, swept.leaving, swept.faults], [["due"], 2, ["stuck: no answer"]]);
});

test("a sweep that has lost its baton begins nothing more", async () => {
  const state = await stateWith("a");
  const console = new Console();

  await sweep(SETTINGS, console.ports(state), { signal: never, mayWrite: () => false });

  assert.deepEqual([...console.names.keys(), ...console.left], []);
});
