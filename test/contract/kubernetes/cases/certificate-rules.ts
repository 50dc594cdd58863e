import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { type TestContext, test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import { approve, issued, requestFor, SIGNING_REQUESTS, signingRequest } from "../certificate-request.ts";
import type { Answer, ContractClient } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";
import { accountOf, untilAllowed } from "../identity.ts";

const MERGE = "application/merge-patch+json";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GROUP = "certificates.k8s.io";

interface Condition {
  readonly type: string;
  readonly reason?: string;
  readonly message?: string;
}

/** CertificateSigningRequests: who may decide and sign, and what is kept once it is there. */
export function certificateRuleCases(area: () => Area): void {
  const nameOf = (name: string): string => `contract-${area().token}-${name}`;
  const pathOf = (name: string): string => `${SIGNING_REQUESTS}/${nameOf(name)}`;
  const ask = async (t: TestContext, name: string, spec: object = {}, request?: string): Promise<Answer> => {
    t.after(() => area().admin.request("DELETE", pathOf(name)));
    const pem = request ?? (await requestFor(`contract:${name}`)).request;
    return await area().admin.request("POST", SIGNING_REQUESTS, { body: signingRequest(nameOf(name), pem, spec) });
  };
  const patch = async (path: string, body: object, client: ContractClient = area().admin): Promise<Answer> =>
    await client.request("PATCH", path, { body, contentType: MERGE });
  const conditions = (...types: readonly string[]): object => ({
    status: { conditions: types.map((type) => ({ type, status: "True", reason: "Contract", message: "m" })) },
  });
  const statusOf = async (name: string): Promise<{ certificate?: string; conditions?: readonly Condition[] }> =>
    ((await area().admin.must("GET", pathOf(name)))["status"] ?? {}) as { certificate?: string };
  const own = (): { signerName: string } => ({ signerName: `contract-${area().token}.hawser.test/own` });
  /** An account with a ClusterRole of its own. */
  const holder = async (t: TestContext, name: string, rules: readonly object[]): Promise<ContractClient> => {
    const { admin, namespace } = area();
    const { client } = await accountOf(t, area(), name);
    const role = nameOf(name);
    t.after(async () => {
      await admin.request("DELETE", `${RBAC}/clusterroles/${role}`);
      await admin.request("DELETE", `${RBAC}/clusterrolebindings/${role}`);
    });
    const reads = { apiGroups: [GROUP], resources: ["certificatesigningrequests"], verbs: ["get", "list"] };
    await admin.must("POST", `${RBAC}/clusterroles`, { metadata: { name: role }, rules: [reads, ...rules] });
    await admin.must("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: role },
      roleRef: { kind: "ClusterRole", name: role, apiGroup: "rbac.authorization.k8s.io" },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    });
    await untilAllowed(client, SIGNING_REQUESTS);
    return client;
  };

  test("a signer's name is a domain and a path: 422 otherwise", async (t) => {
    const refused = async (signerName: string): Promise<void> => {
      const causes = [{ field: "spec.signerName" }];
      assertStatus(await ask(t, "signer", { signerName }), { code: 422, reason: "Invalid", details: { causes } });
    };

    for (const name of ["a/b", "a.b/c/d", "A.b/c", "a.b/c_d", "/c", "kubernetes.io/legacy-unknown"])
      await refused(name);
  });

  test("what is PEM but no request inside: 422", async (t) => {
    const wrong = { code: 422, reason: "Invalid", details: { causes: [{ field: "spec.request" }] } };
    const block = (type: string): string => `-----BEGIN ${type}-----\nAAAA\n-----END ${type}-----\n`;

    assertStatus(await ask(t, "empty-block", {}, block("CERTIFICATE REQUEST")), wrong);
    assertStatus(await ask(t, "other-block", {}, block("CERTIFICATE")), wrong);
  });

  test("words before the request, and none after its last line's end, do not matter", async (t) => {
    const { request } = await requestFor("contract:words");

    assert.equal((await ask(t, "before", own(), `a note\n${request}`)).code, 201);
    assert.equal((await ask(t, "after", own(), request.trim())).code, 201);
  });

  test("a ServiceAccount asks: the server writes its name, UID and groups", async (t) => {
    const { admin, namespace } = area();
    const rule = { apiGroups: [GROUP], resources: ["certificatesigningrequests"], verbs: ["create"] };
    const client = await holder(t, "asks", [rule]);
    const { metadata } = await admin.must("GET", `/api/v1/namespaces/${namespace}/serviceaccounts/asks`);
    t.after(() => admin.request("DELETE", pathOf("asks-csr")));

    const { request } = await requestFor("contract:asks");
    const forged = { username: "jane", uid: "1", groups: ["system:masters"], extra: { a: ["b"] } };
    const body = signingRequest(nameOf("asks-csr"), request, { ...own(), ...forged });
    const answer = await client.request("POST", SIGNING_REQUESTS, { body });

    const spec = answer.json["spec"] as { extra?: object };
    assertHas(spec, { username: `system:serviceaccount:${namespace}:asks`, uid: metadata.uid });
    assertHas(spec, {
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    });
    assert.equal(Object.hasOwn(spec.extra ?? {}, "a"), false);
  });

  test("the right to approve: for one signer by name, for all of a domain by a star", async (t) => {
    const update = { apiGroups: [GROUP], resources: ["certificatesigningrequests/approval"], verbs: ["patch"] };
    const signers = (resourceNames: readonly string[]): object => ({
      apiGroups: [GROUP],
      resources: ["signers"],
      verbs: ["approve"],
      resourceNames,
    });
    const domain = own().signerName.split("/")[0];
    const other = await holder(t, "approves-other", [update, signers(["other.hawser.test/own"])]);
    const one = await holder(t, "approves-one", [update, signers([own().signerName])]);
    const star = await holder(t, "approves-star", [update, signers([`${domain}/*`])]);
    await ask(t, "approve-one", own());
    await ask(t, "approve-star", own());

    const refused = await patch(`${pathOf("approve-one")}/approval`, conditions("Approved"), other);

    const message = new RegExp(`user not permitted to approve requests with signerName "${own().signerName}"`);
    assertStatus(refused, { code: 403, reason: "Forbidden", message });
    assert.equal((await patch(`${pathOf("approve-one")}/approval`, conditions("Approved"), one)).code, 200);
    assert.equal((await patch(`${pathOf("approve-star")}/approval`, conditions("Approved"), star)).code, 200);
  });

  test("a decision stays: it cannot be taken back, turned round or made twice", async (t) => {
    await ask(t, "stays", own());
    const approval = `${pathOf("stays")}/approval`;
    await patch(approval, conditions("Approved"));
    const invalid = { code: 422, reason: "Invalid" };

    assertStatus(await patch(approval, { status: { conditions: null } }), {
      ...invalid,
      message: /updates may not remove a condition of type "Approved"/,
    });
    assertStatus(await patch(approval, conditions("Approved", "Denied")), invalid);
    assertStatus(await patch(approval, conditions("Approved", "Approved")), {
      ...invalid,
      message: /status\.conditions\[1\]\.type: Duplicate value: "Approved"/,
    });
    assert.equal((await patch(approval, conditions("Approved"))).code, 200);
  });

  test("conditions of a decision are true, and all have a type and a status", async (t) => {
    await ask(t, "odd", own());
    const odd = async (condition: object) =>
      await patch(`${pathOf("odd")}/approval`, { status: { conditions: [condition] } });
    const invalid = (field: string) => ({ code: 422, reason: "Invalid", details: { causes: [{ field }] } });

    assertStatus(await odd({ type: "Approved", status: "False" }), invalid("status.conditions[0].status"));
    assertStatus(await odd({ type: "Approved" }), invalid("status.conditions[0].status"));
    assertStatus(await odd({ status: "True" }), invalid("status.conditions[0].type"));
  });

  test("approval writes conditions alone: no certificate, spec or label", async (t) => {
    const { json } = await ask(t, "alone", own());

    const body = {
      metadata: { labels: { a: "b" } },
      spec: { usages: ["server auth"] },
      status: { certificate: "YWJj" },
    };
    const answer = await patch(`${pathOf("alone")}/approval`, body);

    assert.equal(answer.code, 200, answer.text);
    assert.deepEqual([answer.json["spec"], answer.json["status"]], [json["spec"], {}]);
  });

  test("approval is read, too; it is neither made nor deleted", async (t) => {
    const { admin } = area();
    const { json } = await ask(t, "reads", own());

    const read = await admin.must("GET", `${pathOf("reads")}/approval`);
    const removed = await admin.request("DELETE", `${pathOf("reads")}/approval`);

    assert.equal(read.metadata.uid, json.metadata.uid);
    assertStatus(removed, { code: 405, reason: "MethodNotAllowed" });
    assertStatus(await patch(`${pathOf("absent")}/approval`, conditions("Approved")), {
      code: 404,
      reason: "NotFound",
    });
  });

  test("the cluster signs for its own signers alone; another one is its owner's, who needs the right to", async (t) => {
    const { admin } = area();
    await ask(t, "for-us");
    await approve(admin, nameOf("for-us"));
    const certificate = Buffer.from(await issued(admin, nameOf("for-us"))).toString("base64");
    await ask(t, "for-them", own());
    await approve(admin, nameOf("for-them"));
    const writes = { apiGroups: [GROUP], resources: ["certificatesigningrequests/status"], verbs: ["patch"] };
    const stranger = await holder(t, "signs-not", [writes]);
    const signers = { apiGroups: [GROUP], resources: ["signers"], verbs: ["sign"], resourceNames: [own().signerName] };
    const signer = await holder(t, "signs", [writes, signers]);

    const untouched = await statusOf("for-them");
    const body = { status: { certificate } };
    const refused = await patch(`${pathOf("for-them")}/status`, body, stranger);
    const signed = await patch(`${pathOf("for-them")}/status`, body, signer);

    assert.equal(untouched.certificate, undefined);
    assertStatus(refused, { code: 403, reason: "Forbidden", message: /user not permitted to sign requests/ });
    assert.equal(signed.code, 200, signed.text);
    assertHas(signed.json["status"], { certificate });
  });

  test("a certificate must be one, and stays as it was issued", async (t) => {
    const { admin } = area();
    await ask(t, "issued");
    await approve(admin, nameOf("issued"));
    const certificate = Buffer.from(await issued(admin, nameOf("issued"))).toString("base64");
    await ask(t, "kept", own());
    const write = async (content: string | null) =>
      await patch(`${pathOf("kept")}/status`, { status: { certificate: content } });
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const invalid = { code: 422, reason: "Invalid", details: { causes: [{ field: "status.certificate" }] } };

    assertStatus(await write(base64("text")), {
      ...invalid,
      message: /must contain at least one CERTIFICATE PEM block/,
    });
    assertStatus(await write(base64((await requestFor("contract:kept")).request)), {
      ...invalid,
      message: /only CERTIFICATE PEM blocks are allowed, found/,
    });
    assertStatus(await write(base64("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")), invalid);
    assert.equal((await write(certificate)).code, 200);
    for (const other of [null, base64(Buffer.from(certificate, "base64").toString("utf8").repeat(2))]) {
      assertStatus(await write(other), { ...invalid, message: /updates may not modify existing certificate content/ });
    }
  });

  test("usages that a client certificate may have, and those that make its signer fail", async (t) => {
    const { admin } = area();
    const sign = async (name: string, usages: readonly string[]) => {
      await ask(t, name, { usages });
      await approve(admin, nameOf(name));
      return await eventually(systemClock, `${name} to be signed or to fail`, async () => {
        const { certificate, conditions: all = [] } = await statusOf(name);
        const failed = all.find(({ type }) => type === "Failed");
        return certificate === undefined ? failed?.message : "signed";
      });
    };

    assert.equal(await sign("usages-1", ["client auth", "digital signature", "key encipherment"]), "signed");
    assert.match(await sign("usages-2", ["digital signature"]), /missing required usage .*: client auth$/);
    assert.match(await sign("usages-3", ["client auth", "server auth"]), /invalid usage .*: server auth$/);
  });

  test("a certificate lives a year at most, and starts a little in the past", async (t) => {
    const { admin } = area();
    await ask(t, "long", { expirationSeconds: 400 * 86_400 });
    await approve(admin, nameOf("long"));

    const { validFromDate, validToDate } = new X509Certificate(await issued(admin, nameOf("long")));

    const days = (validToDate.getTime() - Date.now()) / 86_400_000;
    assert.ok(days > 364 && days <= 365, `${days} days`);
    const minutes = (Date.now() - validFromDate.getTime()) / 60_000;
    assert.ok(minutes > 4 && minutes < 7, `${minutes} minutes`);
  });

  test("the same name twice: 409; deleted, it can be asked for again", async (t) => {
    await ask(t, "twice", own());

    assertStatus(await ask(t, "twice", own()), { code: 409, reason: "AlreadyExists" });
    await area().admin.must("DELETE", pathOf("twice"));
    assert.equal((await ask(t, "twice", own())).code, 201);
  });
}
