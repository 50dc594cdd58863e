import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type MemberReading, readMember } from "../../lib/antrea/member-reading.ts";
import { leaderSecretRef } from "../../lib/antrea/resources.ts";
import { kubeError } from "./memory-cluster.ts";
import { certificatePem, NAMESPACE, RoleHarness } from "./role-harness.ts";

const TOKEN = "canary-token-7f3a";

/** What is read of a member whose Secret holds `data`; `undefined`: no Secret at all. */
async function readWith(
  data: Record<string, string> | undefined,
  spec: Record<string, unknown> = {},
): Promise<MemberReading> {
  const h = new RoleHarness();
  h.clusterSet("east", "north", spec);
  if (data !== undefined) h.secret("east", data);
  const member = h.member("east").client("east");
  return await readMember(member, { namespace: NAMESPACE }, { timeoutMs: 1_000 });
}

function hashOf(reading: MemberReading): string {
  assert.ok(reading.kind === "configured");
  return reading.configuration.hash;
}

describe("what a member says about its leader", () => {
  for (const [what, data, words] of [
    ["without ca.crt", { token: TOKEN }, /ca\.crt data not found in Secret leader-token/],
    ["with an empty ca.crt", { "ca.crt": "", token: TOKEN }, /ca\.crt data not found in Secret leader-token/],
    ["with a ca.crt that is not PEM", { "ca.crt": "hello", token: TOKEN }, /ca\.crt of Secret leader-token is not PEM/],
    ["without token", { "ca.crt": certificatePem }, /token not found in Secret leader-token/],
    ["with an empty token", { "ca.crt": certificatePem, token: "" }, /token not found in Secret leader-token/],
    ["with a token of two lines", { "ca.crt": certificatePem, token: `${TOKEN}\nb` }, /token of Secret leader-token/],
    ["that is not there", undefined, /Secret leader-token not found/],
  ] as const) {
    it(`names member, Secret and remedy for a Secret ${what}`, async () => {
      const reading = await readWith(data);

      assert.ok(reading.kind === "misconfigured");
      assert.equal(reading.fault.cause, "ConfigurationInvalid");
      assert.match(reading.fault.message, words);
      assert.match(reading.fault.message, /east/);
      assert.match(reading.fault.message, /kubectl/);
      assert.doesNotMatch(reading.fault.message, /canary/);
      assert.equal(reading.clusterSet?.leaderClusterID, "north");
    });
  }

  it("trims the newline that files leave at the end of a token", async () => {
    const plain = await readWith({ "ca.crt": certificatePem, token: TOKEN });
    const withNewline = await readWith({ "ca.crt": certificatePem, token: `${TOKEN}\n` });

    assert.equal(hashOf(withNewline), hashOf(plain));
  });

  it("is the same connection in another spelling of the URL, another one with another token or common area", async () => {
    const data = { "ca.crt": certificatePem, token: TOKEN };
    const leader = (server: string): Record<string, unknown> => ({
      leaders: [{ clusterID: "north", server, secret: "leader-token" }],
    });
    const hash = hashOf(await readWith(data, leader("https://north:6443")));

    assert.equal(hashOf(await readWith(data, leader("HTTPS://North:6443//"))), hash);
    assert.notEqual(hashOf(await readWith(data, leader("https://north:6444"))), hash);
    assert.notEqual(hashOf(await readWith({ ...data, token: "other" })), hash);
    assert.notEqual(hashOf(await readWith(data, { namespace: "other" })), hash);
  });

  it("does not take a member that refuses for one without a Secret", async () => {
    const h = new RoleHarness();
    h.clusterSet("east");
    h.member("east").fault = ({ resource }) => (resource === "secrets" ? kubeError("forbidden") : undefined);
    h.member("east").remove(leaderSecretRef(NAMESPACE, "leader-token"));

    const reading = await readMember(h.member("east").client("east"), { namespace: NAMESPACE }, { timeoutMs: 1_000 });

    assert.equal(reading.kind === "unreadable" && reading.fault.cause, "PermissionDenied");
  });
});
