import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";

const MERGE = "application/merge-patch+json";

/** Leases, Events, Secrets, ConfigMaps, Namespaces and owners. */
export function objectCases(area: () => Area): void {
  const place = (): string => `/api/v1/namespaces/${area().namespace}`;
  const leases = (): string => `/apis/coordination.k8s.io/v1/namespaces/${area().namespace}/leases`;
  const untilGone = async (path: string): Promise<void> => {
    await eventually(systemClock, `${path} to be gone`, async () => {
      const { code } = await area().admin.request("GET", path);
      return code === 404 ? true : undefined;
    });
  };
  const makeNamespace = async (t: TestContext, name: string): Promise<string> => {
    const { admin, token } = area();
    const full = `contract-${token}-${name}`;
    t.after(() => admin.request("DELETE", `/api/v1/namespaces/${full}`));
    await admin.must("POST", "/api/v1/namespaces", { metadata: { name: full } });
    return full;
  };

  test("a Lease's times have six decimals, and no other form is taken", async () => {
    const { admin } = area();
    const ask = async (name: string, renewTime: string) =>
      await admin.request("POST", leases(), { body: { metadata: { name }, spec: { renewTime } } });

    const good = await ask("six", "2026-08-21T10:12:11.123456Z");
    const zone = await ask("zone", "2026-08-21T12:12:11.123456+02:00");

    assertHas(good.json, { spec: { renewTime: "2026-08-21T10:12:11.123456Z" } });
    assertHas(zone.json, { spec: { renewTime: "2026-08-21T10:12:11.123456Z" } });
    for (const time of ["2026-08-21T10:12:11.123Z", "2026-08-21T10:12:11Z", "2026-08-21", "now"]) {
      assertStatus(await ask("odd", time), { code: 400, reason: "BadRequest", message: /parsing time "/ });
    }
  });

  test("a Lease: fields are checked, a renewal is an update with its resourceVersion", async () => {
    const { admin } = area();
    const body = { metadata: { name: "renewed" }, spec: { holderIdentity: "a", leaseDurationSeconds: 60 } };
    const made = await admin.must("POST", leases(), body);

    const renewed = await admin.must("PUT", `${leases()}/renewed`, {
      ...made,
      spec: { ...Object(made["spec"]), renewTime: "2026-08-21T10:12:11.000000Z" },
    });
    const stale = await admin.request("PUT", `${leases()}/renewed`, { body: made });
    const zero = await admin.request("POST", leases(), {
      body: { metadata: { name: "zero" }, spec: { leaseDurationSeconds: 0 } },
    });

    assertHas(renewed["spec"], {
      holderIdentity: "a",
      leaseDurationSeconds: 60,
      renewTime: "2026-08-21T10:12:11.000000Z",
    });
    assertStatus(stale, { code: 409, reason: "Conflict" });
    assertStatus(zero, {
      code: 422,
      reason: "Invalid",
      message: /spec\.leaseDurationSeconds: .*must be greater than 0/,
    });
  });

  test("an Event is about an object of its own Namespace", async () => {
    const { admin, namespace } = area();
    const event = (involvedIn: string): object => ({
      metadata: { name: `about-${involvedIn}.1` },
      involvedObject: { apiVersion: "v1", kind: "ConfigMap", name: "a", namespace: involvedIn },
      type: "Warning",
      reason: "Failed",
      message: "it did",
      firstTimestamp: "2026-08-21T10:12:11Z",
      lastTimestamp: "2026-08-21T10:12:11Z",
      reportingComponent: "contract",
      reportingInstance: "contract-1",
      action: "synced",
    });

    const own = await admin.request("POST", `${place()}/events`, { body: event(namespace) });
    const other = await admin.request("POST", `${place()}/events`, { body: event("default") });

    assert.equal(own.code, 201, own.text);
    assertHas(own.json, { type: "Warning", reason: "Failed", message: "it did", reportingComponent: "contract" });
    assertStatus(other, { code: 422, reason: "Invalid", message: /involvedObject\.namespace/ });
  });

  test("Events are selected by what they are about", async () => {
    const { admin, namespace } = area();
    for (const name of ["x", "y"]) {
      await admin.must("POST", `${place()}/events`, {
        metadata: { name: `selected-${name}` },
        involvedObject: { kind: "ConfigMap", name, namespace },
        reason: "Selected",
      });
    }

    const list = await admin.must("GET", `${place()}/events?fieldSelector=involvedObject.name%3Dx,reason%3DSelected`);

    assert.deepEqual(
      (list.items ?? []).map(({ metadata }) => metadata.name),
      ["selected-x"],
    );
  });

  test("a Secret: texts become base64, its type is for ever", async () => {
    const { admin } = area();
    const made = await admin.must("POST", `${place()}/secrets`, {
      metadata: { name: "s" },
      stringData: { token: "abc" },
    });

    const retyped = await admin.request("PATCH", `${place()}/secrets/s`, {
      body: { type: "other/type" },
      contentType: MERGE,
    });
    const odd = await admin.request("POST", `${place()}/secrets`, {
      body: { metadata: { name: "o" }, data: { k: "not base64!" } },
    });

    assert.deepEqual([made["type"], made["data"], made["stringData"]], ["Opaque", { token: "YWJj" }, undefined]);
    assertStatus(retyped, { code: 422, reason: "Invalid", message: /type: .*field is immutable/ });
    assertStatus(odd, { code: 400, reason: "BadRequest", message: /illegal base64 data/ });
  });

  test("what is immutable stays as it is, but can be deleted", async () => {
    const { admin } = area();
    const body = { metadata: { name: "stone" }, immutable: true, data: { k: "v" } };
    await admin.must("POST", `${place()}/configmaps`, body);

    const answer = await admin.request("PATCH", `${place()}/configmaps/stone`, {
      body: { data: { k: "w" } },
      contentType: MERGE,
    });

    assertStatus(answer, { code: 422, reason: "Invalid", message: /field is immutable when `immutable` is set/ });
    assert.equal((await admin.request("DELETE", `${place()}/configmaps/stone`)).code, 200);
  });

  test("a token Secret names its ServiceAccount", async () => {
    const { admin } = area();
    const body = { metadata: { name: "nameless" }, type: "kubernetes.io/service-account-token" };

    const answer = await admin.request("POST", `${place()}/secrets`, { body });

    const details = { causes: [{ field: "metadata.annotations[kubernetes.io/service-account.name]" }] };
    assertStatus(answer, { code: 422, reason: "Invalid", details });
  });

  test("a new Namespace is active, named by a label, with the CA and a ServiceAccount in it", async (t) => {
    const { admin } = area();
    const name = await makeNamespace(t, "new");

    const namespace = await admin.must("GET", `/api/v1/namespaces/${name}`);
    await eventually(systemClock, "what each Namespace has", async () => {
      const account = await admin.request("GET", `/api/v1/namespaces/${name}/serviceaccounts/default`);
      const ca = await admin.request("GET", `/api/v1/namespaces/${name}/configmaps/kube-root-ca.crt`);
      return account.code === 200 && ca.code === 200 ? true : undefined;
    });

    assertHas(namespace, {
      metadata: { labels: { "kubernetes.io/metadata.name": name } },
      spec: { finalizers: ["kubernetes"] },
      status: { phase: "Active" },
    });
  });

  test("a Namespace's own label cannot be changed, its name is a DNS label", async (t) => {
    const { admin } = area();
    const name = await makeNamespace(t, "label");
    const labels = { "kubernetes.io/metadata.name": "other", more: "yes" };

    const patched = await admin.must("PATCH", `/api/v1/namespaces/${name}`, { metadata: { labels } }, MERGE);
    const dotted = await admin.request("POST", "/api/v1/namespaces", { body: { metadata: { name: "a.b" } } });

    assert.deepEqual(patched.metadata.labels, { "kubernetes.io/metadata.name": name, more: "yes" });
    assertStatus(dotted, {
      code: 422,
      reason: "Invalid",
      message: /metadata\.name: Invalid value: "a\.b": must not contain dots/,
    });
  });

  test("a deleted Namespace takes nothing more, loses all that is in it, and goes", async (t) => {
    const { admin } = area();
    const name = await makeNamespace(t, "going");
    const inside = `/api/v1/namespaces/${name}/configmaps`;
    await admin.must("POST", inside, { metadata: { name: "held", finalizers: ["hawser.test/hold"] } });
    await admin.must("POST", inside, { metadata: { name: "free" } });

    const deleted = await admin.must("DELETE", `/api/v1/namespaces/${name}`);
    await untilGone(`${inside}/free`);
    const late = await admin.request("POST", inside, { body: { metadata: { name: "late" } } });
    const still = await eventually(systemClock, "the Namespace to say what it waits for", async () => {
      const { json } = await admin.request("GET", `/api/v1/namespaces/${name}`);
      return JSON.stringify(json["status"]).includes("NamespaceFinalizersRemaining") ? json : undefined;
    });
    await admin.must("PATCH", `${inside}/held`, { metadata: { finalizers: null } }, MERGE);
    await untilGone(`/api/v1/namespaces/${name}`);

    assertHas(deleted, { kind: "Namespace", status: { phase: "Terminating" } });
    const message = `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`;
    const causes = [{ reason: "NamespaceTerminating", field: "metadata.namespace" }];
    assertStatus(late, { code: 403, reason: "Forbidden", message, details: { causes } });
    assert.equal(typeof still.metadata.deletionTimestamp, "string");
  });

  test("Namespaces that the cluster needs cannot be deleted", async () => {
    const answer = await area().admin.request("DELETE", "/api/v1/namespaces/default");

    assertStatus(answer, { code: 403, reason: "Forbidden", message: /this namespace may not be deleted/ });
  });

  const own = async (owner: string, name: string, more: object = {}) => {
    const { admin } = area();
    const { metadata } = await admin.must("GET", `${place()}/configmaps/${owner}`);
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: owner, uid: metadata.uid, ...more };
    await admin.must("POST", `${place()}/configmaps`, { metadata: { name, ownerReferences: [reference] } });
  };

  test("what is owned goes with its owner", async () => {
    const { admin } = area();
    await admin.must("POST", `${place()}/configmaps`, { metadata: { name: "owner" } });
    await own("owner", "owned");
    await own("owned", "owned-by-owned");

    await admin.must("DELETE", `${place()}/configmaps/owner`);

    await untilGone(`${place()}/configmaps/owned`);
    await untilGone(`${place()}/configmaps/owned-by-owned`);
  });

  test("what names an owner that is not there goes", async () => {
    const { admin } = area();
    const reference = {
      apiVersion: "v1",
      kind: "ConfigMap",
      name: "never",
      uid: "11111111-1111-4111-8111-111111111111",
    };

    await admin.must("POST", `${place()}/configmaps`, { metadata: { name: "stray", ownerReferences: [reference] } });

    await untilGone(`${place()}/configmaps/stray`);
  });

  test("deleted in the foreground, an owner goes after what it owns", async () => {
    const { admin } = area();
    await admin.must("POST", `${place()}/configmaps`, { metadata: { name: "first-last" } });
    await own("first-last", "blocks", { blockOwnerDeletion: true });
    await admin.must(
      "PATCH",
      `${place()}/configmaps/blocks`,
      { metadata: { finalizers: ["hawser.test/hold"] } },
      MERGE,
    );

    const deleted = await admin.must("DELETE", `${place()}/configmaps/first-last?propagationPolicy=Foreground`);
    await eventually(systemClock, "what is owned to be deleted", async () => {
      const { metadata } = await admin.must("GET", `${place()}/configmaps/blocks`);
      return metadata.deletionTimestamp === undefined ? undefined : true;
    });
    const waiting = await admin.request("GET", `${place()}/configmaps/first-last`);
    await admin.must("PATCH", `${place()}/configmaps/blocks`, { metadata: { finalizers: null } }, MERGE);
    await untilGone(`${place()}/configmaps/first-last`);

    assert.deepEqual(deleted.metadata.finalizers, ["foregroundDeletion"]);
    assert.equal(waiting.code, 200);
  });

  test("deleted as Orphan, an owner leaves what it owned", async () => {
    const { admin } = area();
    await admin.must("POST", `${place()}/configmaps`, { metadata: { name: "leaves" } });
    await own("leaves", "orphan");

    await admin.must("DELETE", `${place()}/configmaps/leaves?propagationPolicy=Orphan`);
    await untilGone(`${place()}/configmaps/leaves`);

    const { metadata } = await admin.must("GET", `${place()}/configmaps/orphan`);
    assert.equal(metadata["ownerReferences"], undefined);
  });
}
