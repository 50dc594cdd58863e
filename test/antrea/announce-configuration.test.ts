import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ConfigurationStatement, decideConfiguration } from "../../lib/antrea/announce-configuration.ts";
import { CONFIGURATION_TYPE } from "../../lib/antrea/names.ts";
import { leaderSecretRef } from "../../lib/antrea/resources.ts";
import { kubeError } from "./memory-cluster.ts";
import { certificatePem, NAMESPACE, RoleHarness } from "./role-harness.ts";

const CLUSTER_UID = "11111111-1111-4111-8111-111111111111";

/** A member that beats by token-1, and has been told of by a leader that refuses others. */
async function beating(...refused: string[]): Promise<RoleHarness> {
  const h = new RoleHarness();
  h.join("east", { clusterUID: CLUSTER_UID });
  h.leader().fault = ({ credential }) =>
    refused.includes(credential) ? kubeError("unauthorized", { status: 401, message: "Unauthorized" }) : undefined;
  return h;
}

function shown(h: RoleHarness): readonly (string | undefined)[] {
  const found = h.store.condition("east", CONFIGURATION_TYPE);
  return [found?.status, found?.reason, found?.cause];
}

const useToken = (h: RoleHarness, token: string): void => h.secret("east", { "ca.crt": certificatePem, token });
const kinds = (h: RoleHarness): readonly string[] => h.store.events.map(({ kind }) => kind);

describe("the condition ConfigurationInForce", () => {
  it("is not there while the member names what is in force", async () => {
    const h = await beating();
    await h.start();
    await h.clock.advance(120_000);
    assert.equal(h.store.condition("east", CONFIGURATION_TYPE), undefined);
  });

  it("is False with what the leader says of another token, told once, while Ready goes on", async () => {
    const h = await beating("token-2");
    await h.start();
    await h.clock.advance(60_000);
    useToken(h, "token-2");
    await h.clock.advance(300_000);

    assert.deepEqual(shown(h), ["False", "NewConnectionFailed", "CredentialRefused"]);
    assert.match(h.store.condition("east", CONFIGURATION_TYPE)?.message ?? "", /the one before goes on/);
    assert.equal(h.shown("east")[0], "True");
    assert.deepEqual(kinds(h), ["Connected", "ConfigurationNotInForce"]);
    assert.ok(h.transitions.includes("configuration in force changed"));

    useToken(h, "token-3");
    await h.clock.advance(60_000);
    assert.deepEqual(shown(h), ["True", "InForce", undefined]);
    assert.deepEqual(kinds(h), ["Connected", "ConfigurationNotInForce", "ConfigurationInForce"]);
  });

  it("says so once more only when it is another fault", async () => {
    const h = await beating("token-2");
    await h.start();
    await h.clock.advance(60_000);
    useToken(h, "token-2");
    await h.clock.advance(120_000);
    h.member("east").remove(leaderSecretRef(NAMESPACE, "leader-token"));
    await h.clock.advance(120_000);

    assert.deepEqual(shown(h), ["False", "ConfigurationInvalid", "ConfigurationInvalid"]);
    assert.equal(h.shown("east")[0], "True");
    assert.deepEqual(kinds(h), ["Connected", "ConfigurationNotInForce"], "the state is the same");
  });

  it("is Unknown when the member cannot be read for longer than a lost request", async () => {
    const h = await beating();
    await h.start();
    await h.clock.advance(60_000);
    h.member("east").fault = () => kubeError("network", { message: "east is away" });
    await h.clock.advance(45_000);
    await h.clock.advance(45_000);

    assert.deepEqual(shown(h), ["Unknown", "MemberUnread", "APIServerUnreachable"]);
    assert.equal(h.shown("east")[0], "True");
  });

  it("is told again by no later window", async () => {
    const h = await beating("token-2");
    const hold = await h.start();
    await h.clock.advance(60_000);
    useToken(h, "token-2");
    await h.clock.advance(120_000);
    await h.stop(hold);
    await h.replaceProcess();
    await h.start(2);
    await h.clock.advance(120_000);

    assert.deepEqual(shown(h), ["False", "NewConnectionFailed", "CredentialRefused"]);
    assert.deepEqual(kinds(h), ["Connected", "ConfigurationNotInForce"]);
  });

  it("takes other words of the same state at most once a minute", () => {
    const fault = (message: string) =>
      ({ kind: "refused", since: 0, fault: { cause: "ServerError", message } }) as const;
    const first = decideConfiguration(undefined, fault("a"), 1_000);
    assert.deepEqual(first, {
      status: "False",
      reason: "NewConnectionFailed",
      message: "a",
      cause: "ServerError",
      observedAt: 1_000,
    } satisfies ConfigurationStatement);
    assert.equal(decideConfiguration(first, fault("b"), 60_999), undefined);
    assert.equal(decideConfiguration(first, fault("b"), 61_000)?.message, "b");
    assert.equal(decideConfiguration(first, fault("a"), 600_000), undefined);
  });
});
