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

    const view = viewMembership(membership, [ready], baton, NOW);

    assert.equal(view.state, "Connected");
    assert.equal(view.lastRoundAt, "2025-12-31T23:59:58.000Z");
    assert.equal(view.window?.holder, "w-1");
    assert.equal(view.conditions[0]?.lastTransitionTime, "2025-12-31T23:59:10.000Z");
    assert.equal(isHealthy({ at: "", memberships: [view] }), true);
  });

  it("shows Unknown, never the last good state, when the baton has expired or was released", () => {
    for (const baton of [undefined, { fence: 4 }, { fence: 4, holder: "w-1", expiresAt: NOW - 5_000 }]) {
      const view = viewMembership(membership, [ready], baton, NOW);

      assert.equal(view.state, "Unknown");
      assert.equal(view.note, "no holder");
      assert.equal(view.window, undefined);
      assert.equal(isHealthy({ at: "", memberships: [view] }), false);
    }
  });

  it("keeps a window for the time that clocks may be apart", () => {
    const view = viewMembership(membership, [ready], { fence: 4, holder: "w-1", expiresAt: NOW - 4_999 }, NOW);

    assert.equal(view.state, "Connected");
  });

  it("tells that beats fail before the condition turns", () => {
    const exceptions = { east: { kind: "timeout", count: 2, since: NOW - 20_000 } };

    const view = viewMembership(membership, [ready], { fence: 4, holder: "w", expiresAt: NOW + 1, exceptions }, NOW);

    assert.equal(view.state, "Connected");
    assert.equal(view.note, "timeout, 2 in a row");
  });
});
