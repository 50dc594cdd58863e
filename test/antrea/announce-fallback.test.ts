import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { announceRef, leaderSecretRef } from "../../lib/antrea/resources.ts";
import { kubeError } from "./memory-cluster.ts";
import { COMMON_AREA, certificatePem, NAMESPACE, RoleHarness } from "./role-harness.ts";

const CLUSTER_UID = "11111111-1111-4111-8111-111111111111";

/** A member that has beaten by token-1 in a window that has ended; its leader refuses token-2. */
async function handedOver(change: (h: RoleHarness) => void, more: { readonly refused?: string[] } = {}) {
  const h = new RoleHarness();
  h.join("east", { clusterUID: CLUSTER_UID });
  const hold = await h.start();
  await h.clock.advance(60_000);
  await h.stop(hold);
  const refused = more.refused ?? ["token-2"];
  h.leader().fault = ({ credential }) =>
    refused.includes(credential) ? kubeError("unauthorized", { status: 401 }) : undefined;
  change(h);
  await h.replaceProcess();
  const from = h.leader().requests.length;
  await h.start(2);
  await h.clock.advance(60_000);
  return { h, sent: h.requests("east", from) };
}

const useToken = (h: RoleHarness, token: string): void => h.secret("east", { "ca.crt": certificatePem, token });

describe("a window that takes over a member whose configuration does not work", () => {
  it("goes on with what was kept while the named token is refused, and takes the named one when it works", async () => {
    const { h, sent } = await handedOver((h) => useToken(h, "token-2"));
    assert.equal(h.shown("east")[0], "True");
    assert.ok(sent.some(({ verb, credential }) => verb === "patch" && credential === "token-1"));
    assert.ok(sent.every(({ verb, credential }) => verb !== "patch" || credential === "token-1"));
    assert.deepEqual(
      h.store.events.map(({ kind }) => kind),
      ["Connected", "ConfigurationNotInForce"],
    );

    useToken(h, "token-3");
    await h.clock.advance(60_000);
    assert.equal(h.requests("east").at(-1)?.credential, "token-3");
    assert.equal(h.leader().open, 1);
  });

  it("goes on with what was kept while the Secret is gone", async () => {
    const { h } = await handedOver((h) => h.member("east").remove(leaderSecretRef(NAMESPACE, "leader-token")));
    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.requests("east").at(-1)?.credential, "token-1");
  });

  it("uses the named token at once when it works, and asks with what was kept for nothing", async () => {
    const { h, sent } = await handedOver((h) => useToken(h, "token-4"));
    assert.equal(h.shown("east")[0], "True");
    assert.ok(sent.every(({ credential }) => credential === "token-4"));
    assert.equal(h.leader().open, 1);
  });

  it("says what is wrong with the named one when what was kept does not work either", async () => {
    const { h } = await handedOver((h) => useToken(h, "token-2"), { refused: ["token-1", "token-2"] });
    assert.equal(h.shown("east")[0], "False");
    assert.equal(h.store.condition("east", "Ready")?.cause, "CredentialRefused");
    assert.equal(h.requests("east").at(-1)?.credential, "token-2");
    assert.equal(h.leader().open, 1);
  });

  it("does not go on at a leader that the ClusterSet names no more, and takes the announce back there", async () => {
    const { h } = await handedOver((h) => h.clusterSet("east", "south"));
    assert.equal(h.leader("north").read(announceRef(COMMON_AREA, "east")), undefined);
    assert.ok(h.announce("east", "south"));
    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.leader("north").open, 0);
    assert.ok(h.store.events.some(({ kind }) => kind === "AnnounceWithdrawn"));
  });

  it("reads what was kept only where the member names something else", async () => {
    const { h } = await handedOver(() => undefined);
    assert.equal(h.readsOfKept, 0);
  });
});
