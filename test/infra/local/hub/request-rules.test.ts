import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ApiRecord } from "../../../../infra/local/api-client/api-client.ts";
import { decideRequest } from "../../../../infra/local/hub/request-rules.ts";
import { ADDON_LABEL, CLUSTER_LABEL } from "../../../../infra/local/hub/resources.ts";
import { pkcs10, type Subject, subjectOf } from "./hub-under-test.ts";

const AUTOMATIC = { enabled: true, users: ["bootstrap"] };
const EAST = "system:open-cluster-management:east";
const ALL = "system:open-cluster-management:managed-clusters";

interface Change {
  readonly subject?: Subject;
  readonly labels?: Record<string, string>;
  readonly spec?: object;
  readonly status?: object;
}

async function csrOf({ subject = subjectOf("east"), labels, spec, status = {} }: Change): Promise<ApiRecord> {
  const request = Buffer.from(await pkcs10(subject)).toString("base64");
  return {
    metadata: { name: "east-abcde", labels: labels ?? { [CLUSTER_LABEL]: "east" } },
    spec: { signerName: "kubernetes.io/kube-apiserver-client", username: "bootstrap", request, ...spec },
    status,
  };
}

async function verdict(change: Change, approval = AUTOMATIC): Promise<string> {
  return decideRequest(await csrOf(change), approval).kind;
}

describe("a hub's rules for a cluster's certificate request", () => {
  it("approves the request of a user that is approved by himself, and only with the gate on", async () => {
    assert.equal(await verdict({}), "approve");
    assert.equal(await verdict({}, { ...AUTOMATIC, enabled: false }), "wait");
    assert.equal(await verdict({ spec: { username: "somebody" } }), "wait");
  });

  it("takes the caller's own identity for a renewal, gate or not", async () => {
    assert.equal(await verdict({ spec: { username: `${EAST}:agent` } }, { enabled: false, users: [] }), "renewal");
    assert.equal(await verdict({ spec: { username: `${EAST}:another` } }), "wait");
  });

  it("needs no group of all clusters", async () => {
    assert.equal(await verdict({ subject: { CN: `${EAST}:agent`, O: [EAST] } }), "approve");
  });

  for (const [what, subject] of [
    ["another cluster", subjectOf("west")],
    [
      "another cluster's group beside its own",
      { CN: `${EAST}:agent`, O: [EAST, "system:open-cluster-management:west", ALL] },
    ],
    ["system:masters", { CN: `${EAST}:agent`, O: [EAST, "system:masters"] }],
    ["no group of its own", { CN: `${EAST}:agent`, O: [ALL] }],
    ["no agent", { CN: `${EAST}:`, O: [EAST, ALL] }],
    ["a third part in its name", { CN: `${EAST}:agent:more`, O: [EAST, ALL] }],
    ["a cluster whose name begins as its own", { CN: `${EAST}ern:agent`, O: [EAST, ALL] }],
    ["two common names", { CN: [`${EAST}:agent`, "admin"], O: [EAST, ALL] }],
  ] satisfies [string, Subject][]) {
    it(`does not recognise a request for ${what}`, async () => {
      assert.equal(await verdict({ subject }), "unrecognised");
    });
  }

  it("does not recognise what is no certificate request", async () => {
    for (const text of [
      "",
      "nonsense",
      "-----BEGIN CERTIFICATE REQUEST-----\nnonsense\n-----END CERTIFICATE REQUEST-----",
    ]) {
      assert.equal(await verdict({ spec: { request: Buffer.from(text).toString("base64") } }), "unrecognised");
    }
  });

  it("leaves alone what is decided, an add-on's, unlabelled or for another signer", async () => {
    const conditions = (type: string): object => ({ conditions: [{ type, status: "True" }] });
    for (const change of [
      { status: conditions("Approved") },
      { status: conditions("Denied") },
      { labels: { [CLUSTER_LABEL]: "east", [ADDON_LABEL]: "metrics" } },
      { labels: {} },
      { spec: { signerName: "kubernetes.io/kubelet-serving" } },
    ]) {
      assert.equal(await verdict(change), "notOurs", JSON.stringify(change));
    }
  });
});
