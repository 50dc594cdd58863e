import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { ImportWorld, specOf, type WireSpec } from "./import-world.ts";

const MARK = "multicluster.antrea.io/imported-acnp";
const GROUP = "crd.antrea.io";

describe("imports of kind AntreaClusterNetworkPolicy", { timeout: 60_000 }, () => {
  let world: ImportWorld;
  let name: string;
  let count = 0;
  before(async () => {
    world = await ImportWorld.start();
    for (const tier of ["securityops", "application"]) await putTier(tier);
  });
  beforeEach(() => {
    count += 1;
    name = `deny-${count}`;
    world.requests();
  });
  afterEach(() => {
    world.member.faults.clear();
    world.leader.faults.clear();
  });
  after(() => world.end());

  const importName = (): string => `${name}-antreaclusternetworkpolicy`;
  const putTier = async (tier: string): Promise<void> =>
    await world.put({
      apiVersion: "crd.antrea.io/v1beta1",
      kind: "Tier",
      metadata: { name: tier },
      spec: { priority: 5 },
    });
  const spec = (policy: WireSpec = {}): WireSpec => ({
    kind: "AntreaClusterNetworkPolicy",
    name,
    clusternetworkpolicy: { priority: 1, tier: "securityops", appliedTo: [{ namespaceSelector: {} }], ...policy },
  });
  const policy = (): ApiObject | undefined => world.read(GROUP, "clusternetworkpolicies", `antrea-mc-${name}`);
  const state = (): string | undefined => world.records.get(importName())?.state;
  const put = async (annotations: Record<string, string>, of: WireSpec = { priority: 9 }): Promise<void> =>
    await world.put({
      apiVersion: "crd.antrea.io/v1beta1",
      kind: "ClusterNetworkPolicy",
      metadata: { name: `antrea-mc-${name}`, annotations },
      spec: of,
    });
  const events = (): readonly ApiObject[] =>
    world.leader.engine
      .readAll("", "events")
      .filter((event) => (event["involvedObject"] as { name?: string }).name === importName());
  const messages = (): readonly unknown[] => events().map((event) => event["message"]);

  it("makes the annotated policy when its Tier is there", async () => {
    await world.reconcile(importName(), spec());

    assert.equal(policy()?.metadata.annotations?.[MARK], "true");
    assert.deepEqual(policy()?.["spec"], spec()["clusternetworkpolicy"]);
    assert.equal(state(), "Applied");
    assert.deepEqual(events(), []);
  });

  it("makes none while the Tier is missing, tells the leader once, and makes it within a minute of the Tier", async () => {
    const tier = `late-${name}`;
    const outcome = await world.reconcile(importName(), spec({ tier }));
    await world.reconcile(importName(), spec({ tier }));

    assert.equal(outcome.kind === "settled" && outcome.afterMs, 55_000);
    assert.deepEqual([policy(), state()], [undefined, "Pending"]);
    assert.deepEqual(messages(), [`ACNP Tier ${tier} does not exist in importing cluster east`]);
    await putTier(tier);
    await world.reconcile(importName(), spec({ tier }));
    assert.equal(state(), "Applied");
  });

  it("tells the leader by a Warning about the import, in its own Namespace", async () => {
    await world.reconcile(importName(), spec({ tier: "none" }));

    const [event] = events();
    assert.ok(event !== undefined);
    const { metadata, involvedObject, type, reason, reportingComponent, reportingInstance, action } = event;
    assert.equal(metadata.namespace, "antrea-multicluster");
    assert.match(metadata.name ?? "", new RegExp(`^${importName()}\\.[0-9a-f]{16}$`));
    assert.deepEqual(involvedObject, {
      apiVersion: "multicluster.crd.antrea.io/v1alpha1",
      kind: "ResourceImport",
      name: importName(),
      namespace: "antrea-multicluster",
      uid: `uid-${importName()}`,
    });
    assert.deepEqual([type, reason, action], ["Warning", "ACNPImportFailed", "synced"]);
    assert.deepEqual([reportingComponent, reportingInstance], ["resourceimport-controller", "antrea-mc-controller"]);
    assert.deepEqual([event["count"], event["eventTime"]], [undefined, null]);
    assert.equal(event["firstTimestamp"], event["lastTimestamp"]);
  });

  it("brings a changed spec to it, and deletes it when its new Tier is missing", async () => {
    await world.reconcile(importName(), spec());
    await world.reconcile(importName(), spec({ priority: 2 }));
    const changed = specOf(policy())["priority"];

    await world.reconcile(importName(), spec({ tier: "gone" }));
    const deleted = policy();
    await world.reconcile(importName(), spec());

    assert.deepEqual([changed, deleted, state()], [2, undefined, "Applied"]);
    assert.deepEqual(messages(), ["ACNP Tier gone does not exist in importing cluster east"]);
  });

  it("tells the leader anew when it is missing a second time", async () => {
    await world.reconcile(importName(), spec({ tier: "gone" }));
    await world.reconcile(importName(), spec());
    await world.reconcile(importName(), spec({ tier: "gone" }));

    assert.equal(events().length, 2);
  });

  it("leaves a user's policy of that name alone and tells the leader once", async () => {
    await put({});
    const before = policy();

    await world.reconcile(importName(), spec());
    await world.reconcile(importName(), spec());
    await world.reconcile(importName(), undefined);

    assert.deepEqual(policy(), before);
    assert.deepEqual(messages(), [
      "Unable to import Antrea ClusterNetworkPolicy which conflicts with existing one in cluster east",
    ]);
  });

  it("makes one Event also when the process ends between the Event and the record", async () => {
    world.intend(importName(), spec({ tier: "gone" }));
    const before = world.records.get(importName());
    await world.reconcile(importName(), spec({ tier: "gone" }));
    if (before !== undefined) world.records.set(importName(), before);
    world.newWindow();

    await world.reconcile(importName(), spec({ tier: "gone" }));

    assert.equal(events().length, 1);
  });

  it("is tried again when the leader could not be told, and is shown as what it is meanwhile", async () => {
    world.leader.faults.add({
      match: { resource: "events" },
      action: { kind: "status", code: 500, reason: "x", message: "y" },
    });

    const outcome = await world.reconcile(importName(), spec({ tier: "gone" }));
    const shown = world.records.get(importName());
    world.leader.faults.clear();
    await world.reconcile(importName(), spec({ tier: "gone" }));

    assert.equal(outcome.kind, "failed");
    assert.equal(shown?.state, "Pending");
    assert.match(shown?.error ?? "", /the leader could not be told/);
    assert.equal(events().length, 1);
  });

  for (const [words, verb, resource, message, before] of [
    ["a Tier that may not be read", "get", "tiers", "Failed to get Tier securityops in member cluster east", undefined],
    [
      "a refused create",
      "create",
      "clusternetworkpolicies",
      "Failed to create imported Antrea ClusterNetworkPolicy in cluster east",
      undefined,
    ],
    [
      "a refused update",
      "update",
      "clusternetworkpolicies",
      "Failed to update imported Antrea ClusterNetworkPolicy in cluster east",
      { priority: 7 },
    ],
  ] as const) {
    it(`tells the leader once of ${words}, and goes on trying`, async () => {
      if (before !== undefined) await put({ [MARK]: "true" }, before);
      world.member.faults.add({
        match: { verbs: [verb], resource },
        action: { kind: "status", code: 403, reason: "Forbidden", message: "no" },
      });

      const first = await world.reconcile(importName(), spec());
      const second = await world.reconcile(importName(), spec());
      world.member.faults.clear();
      await world.reconcile(importName(), spec());

      assert.deepEqual([first.kind, second.kind, state()], ["failed", "failed", "Applied"]);
      assert.deepEqual(messages(), [message]);
    });
  }

  it("tells the leader of a policy that cannot be deleted although its Tier is gone", async () => {
    await world.reconcile(importName(), spec());
    world.member.faults.add({
      match: { verbs: ["delete"] },
      action: { kind: "status", code: 403, reason: "Forbidden", message: "no" },
    });

    await world.reconcile(importName(), spec({ tier: "gone" }));

    assert.deepEqual(messages(), [
      "Failed to delete imported Antrea ClusterNetworkPolicy that no longer has a valid Tier for cluster east",
    ]);
  });

  it("tells nobody of an outage, which is not the policy's", async () => {
    world.member.faults.add({ match: { verbs: ["create"] }, action: { kind: "reset" } });

    const outcome = await world.reconcile(importName(), spec());

    assert.deepEqual([outcome.kind, events()], ["failed", []]);
  });

  it("sends nothing while the policy differs only by what Antrea's webhook adds", async () => {
    const rules = { ingress: [{ action: "Drop" }, { action: "Allow", name: "own" }], tier: "" };
    await put(
      { [MARK]: "true" },
      {
        priority: 1,
        tier: "application",
        appliedTo: [{ namespaceSelector: {} }],
        ingress: [
          { action: "Drop", name: "ingress-drop-1a2b3c4" },
          { action: "Allow", name: "own" },
        ],
      },
    );

    await world.reconcile(importName(), spec(rules));

    assert.equal(state(), "Applied");
    assert.deepEqual(
      world.requests().filter((request) => !request.startsWith("get")),
      [],
    );
  });

  it("belongs to the default Tier when it names none, and to the Tier of today when it names one of old", async () => {
    for (const tier of ["", undefined, "SecurityOps"]) {
      await world.reconcile(importName(), spec({ tier }));
      assert.equal(state(), "Applied");
    }
    assert.equal(specOf(policy())["tier"], "securityops");
  });

  it("is invalid without its payload, and goes with its import by the record alone", async () => {
    await world.reconcile(importName(), spec());
    await world.reconcile(importName(), { kind: "AntreaClusterNetworkPolicy", name });
    const shown = state();
    world.newWindow();

    await world.reconcile(importName(), undefined);

    assert.deepEqual([shown, policy()], ["Invalid", undefined]);
  });
});
