import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Condition } from "../../lib/state/condition.ts";
import type { Membership } from "../../lib/state/membership.ts";
import { isHealthy, viewMembership } from "../../lib/status/fleet.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

const membership: Membership = {
  cluster: "east",
  protocol: "antrea",
  access: { kubeconfig: { file: "/east.yaml" } },
  antrea: { namespace: "kube-system" },
  options: { failureThreshold: 3, networkProfile: "default" },
  shard: "default-1",
  phase: "joined",
  assignment: 1,
  connectedOnce: true,
  createdAt: NOW - 60_000,
  createdBy: "someone",
  updatedAt: NOW - 60_000,
  summary: { state: "Connected", since: NOW - 50_000 },
};

const HELD = { fence: 4, holder: "w", expiresAt: NOW + 1 };

const ready: Condition & { type: string } = {
  type: "Ready",
  status: "True",
  reason: "",
  message: "",
  lastTransitionTime: NOW - 50_000,
  observedAt: NOW - 1_000,
  failures: 0,
  assignment: 1,
  fence: 4,
};

describe("the view of a membership", () => {
  it("shows its state, its conditions and the window that works it", () => {
    const baton = { fence: 4, holder: "w-1", expiresAt: NOW + 20_000, roundAt: NOW - 2_000 };

    const view = viewMembership(membership, [ready], { baton }, NOW);

    assert.equal(view.state, "Connected");
    assert.equal(view.lastRoundAt, "2025-12-31T23:59:58.000Z");
    assert.equal(view.window?.holder, "w-1");
    assert.equal(view.conditions[0]?.lastTransitionTime, "2025-12-31T23:59:10.000Z");
    assert.equal(isHealthy({ at: "", memberships: [view] }), true);
  });

  it("shows Unknown, never the last good state, when the baton has expired or was released", () => {
    for (const baton of [undefined, { fence: 4 }, { fence: 4, holder: "w-1", expiresAt: NOW - 5_000 }]) {
      const view = viewMembership(membership, [ready], { baton }, NOW);

      assert.equal(view.state, "Unknown");
      assert.equal(view.note, "no holder");
      assert.equal(view.window, undefined);
      assert.equal(isHealthy({ at: "", memberships: [view] }), false);
    }
  });

  it("keeps a window for the time that clocks may be apart", () => {
    const view = viewMembership(
      membership,
      [ready],
      { baton: { fence: 4, holder: "w-1", expiresAt: NOW - 4_999 } },
      NOW,
    );

    assert.equal(view.state, "Connected");
  });

  it("tells that beats fail before the condition turns", () => {
    const exceptions = { east: { kind: "timeout", count: 2, since: NOW - 20_000 } };

    const view = viewMembership(membership, [ready], { baton: { ...HELD, exceptions } }, NOW);

    assert.equal(view.state, "Connected");
    assert.equal(view.note, "timeout, 2 in a row");
  });

  it("shows a membership that rests as paused, also when no window is left to work it", () => {
    const paused = { ...membership, paused: true, summary: { state: "Paused" as const, since: NOW } };

    const view = viewMembership(paused, [ready], {}, NOW);

    assert.deepEqual([view.state, view.note], ["Paused", "paused, until it is resumed"]);
    assert.equal(isHealthy({ at: "", memberships: [view] }), false);
  });

  it("shows why a leave goes on, and when it is tried again", () => {
    const leave = { force: false, startedAt: NOW, attempts: 3, nextAttemptAt: NOW + 60_000, problem: "no answer" };
    const leaving = {
      ...membership,
      phase: "leaving" as const,
      summary: { state: "Leaving" as const, since: NOW },
      leave,
    };

    const view = viewMembership(leaving, [ready], {}, NOW);

    assert.deepEqual([view.state, view.note], ["Leaving", "leaving, 3 tries so far: no answer"]);
    assert.deepEqual(view.leave, { attempts: 3, problem: "no answer", nextAttemptAt: "2026-01-01T00:01:00.000Z" });
  });

  it("shows a schedule that is disabled in the console as paused, while the last window still works", () => {
    const view = viewMembership(membership, [ready], { baton: HELD, disabledRoles: ["announce"] }, NOW);

    assert.deepEqual(view.disabledSchedules, ["announce"]);
    assert.deepEqual([view.state, view.note], ["Connected", "paused by console: schedule of announce is disabled"]);
  });

  it("names an in-cluster agent that announces the member too", () => {
    const exceptions = { east: { kind: "InClusterAgentRunning", count: 2, since: NOW - 180_000 } };

    const view = viewMembership(membership, [ready], { baton: { ...HELD, exceptions } }, NOW);

    assert.equal(
      view.note,
      "an in-cluster agent announces it too, since 3 min: stop its Deployment antrea-mc-controller",
    );
  });
});
