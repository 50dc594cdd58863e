import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { leaveLeader } from "../../lib/antrea/leave.ts";
import type { Membership } from "../../lib/state/membership.ts";
import { type LeaveWorld, startLeaveWorld } from "./leave-world.ts";
import { COMMON_AREA, membershipOf, NAMESPACE, never } from "./role-harness.ts";

const GROUP = "multicluster.crd.antrea.io";

describe("leaving a leader, over HTTPS", { timeout: 60_000 }, () => {
  let world: LeaveWorld;
  before(async () => {
    world = await startLeaveWorld("east", "west");
  });
  after(() => world.end());
  beforeEach(async () => {
    world.kept.clear();
    world.storeFault = undefined;
    await world.announce("east");
    await world.announce("west");
  });

  const east = (more: Partial<Membership> = {}): Membership => ({ ...membershipOf("east"), ...more });
  const leave = async (membership = east()) => await leaveLeader(world.deps, membership, never);

  async function withoutSecret(cluster: string, work: () => Promise<void>): Promise<void> {
    const member = world.memberClusters.get(cluster);
    const secret = member?.engine.readOne("", "secrets", NAMESPACE, "leader-token");
    assert.ok(member !== undefined && secret !== undefined);
    const empty = { ...secret, data: {} };
    await member.engine.apply(empty);
    try {
      await work();
    } finally {
      await member.engine.apply(secret);
    }
  }

  it("deletes our announce and no other's, and the second time finds it gone", async () => {
    world.keep("east", world.leaderText("east"));

    const first = await leave();
    const second = await leave();

    assert.deepEqual(
      [first, second],
      [
        { kind: "left", announce: "deleted" },
        { kind: "left", announce: "absent" },
      ],
    );
    assert.deepEqual([world.announced("east"), world.announced("west")], [false, true]);
  });

  it("works with the credential that was kept when the member's Secret is gone, as after `antctl mc leave`", async () => {
    world.keep("east", world.leaderText("east"));

    await withoutSecret("east", async () => assert.equal((await leave()).kind, "left"));

    assert.equal(world.announced("east"), false);
  });

  it("works with the member's own credential when none was kept, or the kept one is refused", async () => {
    assert.equal((await leave()).kind, "left");
    await world.announce("east");
    world.keep("east", world.leaderText("east", { token: "revoked" }));

    assert.deepEqual(await leave(), { kind: "left", announce: "deleted" });
    assert.equal(world.announced("east"), false);
  });

  it("says that nothing was announced when nothing is kept and the membership never connected", async () => {
    await withoutSecret("east", async () => {
      assert.deepEqual(await leave(), { kind: "left", announce: "none" });
    });
  });

  it("names what stays when the credential of a membership that had connected is nowhere to be found", async () => {
    await withoutSecret("east", async () => {
      const leader = { clusterID: "north", server: "https://north:6443" };
      const left = await leave(east({ connectedOnce: true, leader }));

      assert.ok(left.kind === "failed");
      assert.equal(left.fault.cause, "CredentialRefused");
      assert.match(left.orphan, /MemberClusterAnnounce of east in its leader north \(https:\/\/north:6443\)/);
    });
  });

  it("does not take a store that does not answer for one that keeps nothing", async () => {
    world.storeFault = { kind: "denied", problem: "may not be read", remedy: "grant it" };

    await withoutSecret("east", async () => {
      const left = await leave();

      assert.ok(left.kind === "failed");
      assert.deepEqual([left.fault.cause, left.fault.message], ["PermissionDenied", "may not be read; grant it"]);
    });
  });

  it("tells the leader's trouble by its cause, and that the leader itself clears up a day later", async () => {
    world.keep("east", world.leaderText("east"));
    const down = world.leaderCluster.faults.add({
      match: { verbs: ["delete"] },
      action: { kind: "status", code: 500, message: 'failed calling webhook "v.kb.io": connection refused' },
    });

    const left = await leave();
    down.remove();

    assert.ok(left.kind === "failed");
    assert.equal(left.fault.cause, "LeaderWebhookUnavailable");
    assert.match(left.orphan, /antrea-multicluster\/member-announce-from-east in leader north .* 24 to 36 hours/);
    assert.equal((await leave()).kind, "left");
  });

  it("deletes the very announce that it saw: one that was made anew meanwhile is looked at again", async () => {
    world.keep("east", world.leaderText("east"));
    const replaced = Promise.withResolvers<void>();
    const { connector } = world.deps;
    const deps = {
      ...world.deps,
      connector: {
        ...connector,
        connectLeader: (...args: Parameters<typeof connector.connectLeader>) => {
          const client = connector.connectLeader(...args);
          const get: typeof client.get = async (...ref) => {
            const answer = await client.get(...ref);
            if (answer.ok) await remake();
            return answer;
          };
          return { cluster: client.cluster, get, delete: client.delete.bind(client), close: client.close.bind(client) };
        },
      },
    };
    let made = 0;
    const remake = async (): Promise<void> => {
      if (made > 0) return;
      made += 1;
      const admin = await world.leaderAsAdmin();
      const ref = {
        type: { group: GROUP, version: "v1alpha1", resource: "memberclusterannounces" },
        namespace: COMMON_AREA,
        name: "member-announce-from-east",
      };
      await admin.mergePatch(ref, { metadata: { finalizers: null } }, { timeoutMs: 5_000 });
      await admin.delete(ref, {}, { timeoutMs: 5_000 });
      await admin.close();
      await world.announce("east");
      replaced.resolve();
    };

    const left = await leaveLeader(deps, east(), never);

    await replaced.promise;
    assert.deepEqual([left, made], [{ kind: "left", announce: "deleted" }, 1]);
    assert.equal(world.announced("east"), false);
  });
});
