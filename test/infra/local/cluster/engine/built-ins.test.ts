import assert from "node:assert/strict";
import { test } from "node:test";
import { createCertificateAuthority } from "../../../../../infra/local/cluster/certificates.ts";
import type { ApiObject, ApiReply } from "../../../../../infra/local/cluster/types.ts";
import { requestFor } from "../../../../contract/kubernetes/certificate-request.ts";
import { Bench, configMap } from "./support.ts";

const ns = { namespace: "default" };
const a = { ...ns, name: "a" };
const LEASES = "coordination.k8s.io/v1/leases";
const CSRS = "certificates.k8s.io/v1/certificatesigningrequests";

function causes(reply: ApiReply): readonly string[] {
  const { details } = reply.body as { details?: { causes?: { field: string; message: string }[] } };
  return (details?.causes ?? []).map((c) => `${c.field}: ${c.message}`);
}

test("a new cluster has its four Namespaces, each with a uid and its name as a label", async () => {
  const bench = new Bench();

  const system = await bench.must("get", "v1/namespaces", { name: "kube-system" });

  assert.deepEqual(
    bench.engine.readAll("", "namespaces").map((n) => n.metadata.name),
    ["default", "kube-node-lease", "kube-public", "kube-system"],
  );
  assert.match(system.metadata.uid ?? "", /^[0-9a-f-]{36}$/);
  assert.deepEqual(system.metadata.labels, { "kubernetes.io/metadata.name": "kube-system" });
  assert.deepEqual(system["status"], { phase: "Active" });
});

test("nothing is made in a Namespace that is not there", async () => {
  const bench = new Bench();

  const reply = await bench.ask("create", "v1/configmaps", { namespace: "x", body: { metadata: { name: "a" } } });

  assert.equal(reply.code, 404);
  assert.equal(reply.body["message"], 'namespaces "x" not found');
});

test("a deleted Namespace is Terminating, is emptied and goes", async () => {
  const bench = new Bench();
  await bench.must("create", "v1/namespaces", { body: { metadata: { name: "x" } } });
  await bench.must("create", "v1/configmaps", { namespace: "x", body: { metadata: { name: "a" } } });

  const deleted = await bench.must("delete", "v1/namespaces", { name: "x" });
  const refused = await bench.ask("create", "v1/configmaps", { namespace: "x", body: { metadata: { name: "b" } } });
  await bench.clock.advance(1000);

  assert.deepEqual(deleted["status"], { phase: "Terminating" });
  assert.equal(refused.code, 403);
  assert.equal(
    refused.body["message"],
    'configmaps "b" is forbidden: unable to create new content in namespace x because it is being terminated',
  );
  assert.deepEqual(causes(refused), ["metadata.namespace: namespace x is being terminated"]);
  assert.equal((await bench.ask("get", "v1/namespaces", { name: "x" })).code, 404);
  assert.equal((await bench.ask("get", "v1/configmaps", { namespace: "x", name: "a" })).code, 404);
});

test("a Namespace waits for the finalizers of what it holds", async () => {
  const bench = new Bench();
  await bench.must("create", "v1/namespaces", { body: { metadata: { name: "x" } } });
  const metadata = { name: "a", finalizers: ["example.com/hold"] };
  await bench.must("create", "v1/configmaps", { namespace: "x", body: { metadata } });
  await bench.must("delete", "v1/namespaces", { name: "x" });
  await bench.clock.advance(1000);

  const waiting = await bench.must("get", "v1/namespaces", { name: "x" });
  await bench.patch("v1/configmaps", { namespace: "x", name: "a", body: { metadata: { finalizers: null } } });
  await bench.clock.advance(1000);

  assert.match(JSON.stringify(waiting["status"]), /SomeFinalizersRemain/);
  assert.equal((await bench.ask("get", "v1/namespaces", { name: "x" })).code, 404);
});

test("Namespaces that every cluster has cannot be deleted", async () => {
  const bench = new Bench();

  const reply = await bench.ask("delete", "v1/namespaces", { name: "kube-system" });

  assert.equal(reply.code, 403);
  assert.equal(reply.body["message"], 'namespaces "kube-system" is forbidden: this namespace may not be deleted');
});

test("a Secret folds stringData into data and is Opaque unless it says otherwise", async () => {
  const bench = new Bench();
  const body = { metadata: { name: "a" }, data: { x: "b2xk", y: "eQ==" }, stringData: { x: "new" } };

  const made = await bench.must("create", "v1/secrets", { ...ns, body });

  assert.equal(made["type"], "Opaque");
  assert.deepEqual(made["data"], { x: "bmV3", y: "eQ==" });
  assert.equal(made["stringData"], undefined);
});

test("a Secret's data must be base64, its keys file names, its type does not change", async () => {
  const bench = new Bench();
  const ask = async (body: object): Promise<ApiReply> =>
    await bench.ask("create", "v1/secrets", { ...ns, body: { metadata: { name: "a" }, ...body } });

  const raw = await ask({ data: { x: "not base64" } });
  const key = await ask({ data: { "a/b": "eQ==" } });
  const tls = await ask({ type: "kubernetes.io/tls" });
  const token = await ask({ type: "kubernetes.io/service-account-token" });
  await ask({});
  const changed = await bench.patch("v1/secrets", { ...a, body: { type: "other" } });

  assert.equal(raw.code, 400);
  assert.match(
    String(raw.body["message"]),
    /^Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 3$/,
  );
  assert.equal(key.code, 422);
  assert.match(causes(key)[0] ?? "", /^data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/);
  assert.deepEqual(causes(tls), ["data[tls.crt]: Required value", "data[tls.key]: Required value"]);
  assert.deepEqual(causes(token), ["metadata.annotations[kubernetes.io/service-account.name]: Required value"]);
  assert.deepEqual(causes(changed), ['type: Invalid value: "other": field is immutable']);
});

test("an immutable ConfigMap stays as it is", async () => {
  const bench = new Bench();
  await bench.must("create", "v1/configmaps", { ...ns, body: configMap("a", { data: { k: "1" }, immutable: true }) });

  const data = await bench.patch("v1/configmaps", { ...a, body: { data: { k: "2" } } });
  const labels = await bench.patch("v1/configmaps", { ...a, body: { metadata: { labels: { x: "y" } } } });

  assert.deepEqual(causes(data), ["data: Forbidden: field is immutable when `immutable` is set"]);
  assert.equal(labels.code, 200);
});

test("a Lease takes times with six decimals and no others", async () => {
  const bench = new Bench();
  const ask = async (renewTime: string): Promise<ApiReply> =>
    await bench.ask("create", LEASES, {
      ...ns,
      query: { dryRun: "All" },
      body: { metadata: { name: "a" }, spec: { renewTime } },
    });

  const three = await ask("2026-01-01T00:00:00.123Z");
  const none = await ask("2026-01-01T00:00:00Z");
  const nine = await ask("2026-01-01T00:00:00.123456789Z");
  const six = await ask("2026-01-01T00:00:00.123456Z");

  assert.equal(three.code, 400);
  assert.equal(
    three.body["message"],
    'Lease in version "v1" cannot be handled as a Lease: parsing time "2026-01-01T00:00:00.123Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".123Z" as ".000000"',
  );
  assert.match(String(none.body["message"]), /cannot parse "Z" as ".000000"$/);
  assert.match(String(nine.body["message"]), /cannot parse "789Z" as "Z07:00"$/);
  assert.equal(six.code, 201);
});

test("a Lease is not updated without its resourceVersion", async () => {
  const bench = new Bench();
  await bench.must("create", LEASES, { ...ns, body: { metadata: { name: "a" }, spec: { leaseDurationSeconds: 60 } } });

  const blind = await bench.ask("update", LEASES, { ...a, body: { metadata: { name: "a" }, spec: {} } });
  const zero = await bench.patch(LEASES, { ...a, body: { spec: { leaseDurationSeconds: 0 } } });

  assert.equal(blind.code, 422);
  assert.deepEqual(causes(zero), ["spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0"]);
});

test("wrong types and unknown fields of built-in objects are errors of decoding and warnings", async () => {
  const bench = new Bench();
  const body = { metadata: { name: "a" }, spec: { leaseDurationSeconds: "60" } };

  const wrong = await bench.ask("create", LEASES, { ...ns, body });
  const unknown = await bench.ask("create", LEASES, { ...ns, body: { metadata: { name: "a" }, spec: { x: 1 }, y: 2 } });

  assert.equal(wrong.code, 400);
  assert.match(
    String(wrong.body["message"]),
    /json: cannot unmarshal string into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32$/,
  );
  assert.equal(unknown.code, 201);
  assert.equal(unknown.headers?.["Warning"], '299 - "unknown field \\"spec.x\\"", 299 - "unknown field \\"y\\""');
  assert.deepEqual((unknown.body as ApiObject)["spec"], {});
});

test("a Service gets an address and defaults, keeps the address, and no two have the same", async () => {
  const bench = new Bench({ serviceCIDR: "10.0.0.0/29" });
  const service = (name: string, spec: object = {}): object => ({
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...spec },
  });
  const create = async (name: string, spec?: object): Promise<ApiReply> =>
    await bench.ask("create", "v1/services", { ...ns, body: service(name, spec) });

  const made = (await create("a")).body as ApiObject;
  const spec = made["spec"] as { clusterIP: string };
  const put = await bench.must("update", "v1/services", { ...a, body: service("a", { ports: [{ port: 81 }] }) });
  const moved = await bench.patch("v1/services", {
    ...a,
    body: { spec: { clusterIP: "10.0.0.5", clusterIPs: ["10.0.0.5"] } },
  });
  const same = await create("b", { clusterIP: spec.clusterIP });
  const outside = await create("b", { clusterIP: "10.1.0.1" });
  const headless = (await create("h", { clusterIP: "None" })).body as ApiObject;
  const others = [await create("c"), await create("d"), await create("e"), await create("f"), await create("g")];
  const full = await create("z");

  assert.deepEqual(spec, {
    ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
    clusterIP: spec.clusterIP,
    clusterIPs: [spec.clusterIP],
    type: "ClusterIP",
    sessionAffinity: "None",
    ipFamilies: ["IPv4"],
    ipFamilyPolicy: "SingleStack",
    internalTrafficPolicy: "Cluster",
  });
  assert.deepEqual(made["status"], { loadBalancer: {} });
  assert.equal((put["spec"] as { clusterIP: string }).clusterIP, spec.clusterIP);
  assert.deepEqual(causes(moved), ['spec.clusterIPs[0]: Invalid value: ["10.0.0.5"]: may not change once set']);
  assert.match(
    causes(same)[0] ?? "",
    /^spec.clusterIPs: Invalid value: .*: failed to allocate IP 10.0.0.\d: provided IP is already allocated$/,
  );
  assert.match(
    causes(outside)[0] ?? "",
    /failed to allocate IP 10.1.0.1: the provided network does not match the current range$/,
  );
  assert.equal((headless["spec"] as { clusterIP: string }).clusterIP, "None");
  const addresses = [made, ...others.map((r) => r.body as ApiObject)].map(
    (s) => (s["spec"] as { clusterIP: string }).clusterIP,
  );
  assert.equal(new Set(addresses).size, 6);
  assert.equal(full.code, 500);
  assert.match(String(full.body["message"]), /range is full/);
});

test("names and ports of Services follow their rules", async () => {
  const bench = new Bench();
  const ask = async (name: string, spec: object): Promise<readonly string[]> =>
    causes(await bench.ask("create", "v1/services", { ...ns, body: { metadata: { name }, spec } }));

  assert.match(
    String(await ask("a.b", { ports: [{ port: 80 }] })),
    /metadata.name: Invalid value: "a.b": must not contain dots/,
  );
  assert.deepEqual(await ask("a", {}), ["spec.ports: Required value"]);
  assert.deepEqual(await ask("a", { ports: [{ port: 80 }, { port: 81, name: "x" }] }), [
    "spec.ports[0].name: Required value",
  ]);
  assert.deepEqual(await ask("a", { ports: [{ port: 0 }] }), [
    "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
    "spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive",
  ]);
  assert.deepEqual(await ask("a", { type: "Odd", ports: [{ port: 1 }] }), [
    'spec.type: Unsupported value: "Odd": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
  ]);
});

test("Endpoints are stored as they come, on older servers repacked: same ports together, addresses sorted", async () => {
  const current = new Bench();
  const bench = new Bench({ repackEndpoints: true });
  const port = { name: "http", port: 80 };
  const subsets = [
    { addresses: [{ ip: "10.0.0.9" }], ports: [port] },
    { addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.9" }], ports: [port] },
  ];

  const made = await bench.must("create", "v1/endpoints", { ...ns, body: { metadata: { name: "a" }, subsets } });
  const kept = await current.must("create", "v1/endpoints", { ...ns, body: { metadata: { name: "a" }, subsets } });
  const again = await bench.must("update", "v1/endpoints", { ...a, body: { metadata: { name: "a" }, subsets } });

  assert.deepEqual(made["subsets"], [
    { addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.9" }], ports: [{ name: "http", port: 80, protocol: "TCP" }] },
  ]);
  assert.equal(again.metadata.resourceVersion, made.metadata.resourceVersion);
  assert.equal((kept["subsets"] as unknown[]).length, 2);
});

test("Endpoints refuse loopback and what is no address", async () => {
  const bench = new Bench();
  const ask = async (ip: string): Promise<readonly string[]> =>
    causes(
      await bench.ask("create", "v1/endpoints", {
        ...ns,
        body: { metadata: { name: "a" }, subsets: [{ addresses: [{ ip }] }] },
      }),
    );

  assert.deepEqual(await ask("127.0.0.1"), [
    'subsets[0].addresses[0].ip: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ]);
  assert.deepEqual(await ask("x"), [
    'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    'subsets[0].addresses[0].ip: Invalid value: "x": must be a valid IP address',
  ]);
});

test("a CertificateSigningRequest says who asked, is approved at its own endpoint and keeps its spec", async () => {
  const bench = new Bench();
  const { request } = await requestFor("alice");
  const certificate = Buffer.from((await createCertificateAuthority("a-ca", bench.clock)).caPem).toString("base64");
  const spec = {
    request: Buffer.from(request).toString("base64"),
    signerName: "kubernetes.io/kube-apiserver-client",
    usages: ["client auth"],
    username: "somebody-else",
  };
  const made = await bench.must("create", CSRS, { body: { metadata: { name: "a" }, spec } });
  const condition = { type: "Approved", status: "True", reason: "Fine" };

  const changed = await bench.must("update", CSRS, {
    name: "a",
    body: { ...made, spec: { ...spec, signerName: "x.y/z" } },
  });
  const early = await bench.must("update", CSRS, { name: "a", body: { ...made, status: { conditions: [condition] } } });
  const approved = await bench.must("update", CSRS, {
    name: "a",
    subresource: "approval",
    body: { ...made, status: { conditions: [condition], certificate } },
  });
  const signed = await bench.patch(CSRS, {
    name: "a",
    subresource: "status",
    body: { status: { certificate } },
  });

  assert.deepEqual(made["spec"], { ...spec, username: "alice", uid: "alice-uid", groups: ["system:authenticated"] });
  assert.deepEqual(changed["spec"], made["spec"]);
  assert.deepEqual(early["status"], {});
  const stamped = { ...condition, lastUpdateTime: "2026-01-01T00:00:00Z", lastTransitionTime: "2026-01-01T00:00:00Z" };
  assert.deepEqual(approved["status"], { conditions: [stamped] });
  assert.deepEqual((signed.body as ApiObject)["status"], { conditions: [stamped], certificate });
});

test("a CertificateSigningRequest needs a request, a signer and known usages", async () => {
  const bench = new Bench();
  const spec = { request: "eA==", usages: ["juggling"] };

  const reply = await bench.ask("create", CSRS, { body: { metadata: { name: "a" }, spec } });

  assert.deepEqual(
    causes(reply).map((c) => c.split(": supported")[0]),
    [
      'spec.request: Invalid value: "eA==": PEM block type must be CERTIFICATE REQUEST',
      'spec.usages[0]: Unsupported value: "juggling"',
      "spec.signerName: Required value",
    ],
  );
});

test("roles and bindings: names like paths, needed fields, roleRef for ever", async () => {
  const bench = new Bench();
  const rbac = "rbac.authorization.k8s.io/v1";
  const role = await bench.ask("create", `${rbac}/clusterroles`, {
    body: { metadata: { name: "system:a:b" }, rules: [{ verbs: ["get"], resources: ["pods"] }] },
  });
  const binding = {
    metadata: { name: "system:a" },
    roleRef: { kind: "ClusterRole", name: "x" },
    subjects: [
      { kind: "ServiceAccount", name: "s" },
      { kind: "User", name: "u" },
    ],
  };
  const homeless = await bench.ask("create", `${rbac}/clusterrolebindings`, { body: binding });
  const subjects = [
    { kind: "ServiceAccount", name: "s", namespace: "default" },
    { kind: "User", name: "u" },
  ];
  const made = await bench.must("create", `${rbac}/clusterrolebindings`, { body: { ...binding, subjects } });
  const moved = await bench.patch(`${rbac}/clusterrolebindings`, {
    name: "system:a",
    body: { roleRef: { name: "y" } },
  });

  assert.deepEqual(causes(role), [
    "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
  ]);
  assert.deepEqual(causes(homeless), ["subjects[0].namespace: Required value"]);
  assert.deepEqual(made["roleRef"], { kind: "ClusterRole", name: "x", apiGroup: "rbac.authorization.k8s.io" });
  assert.deepEqual(made["subjects"], [subjects[0], { ...subjects[1], apiGroup: "rbac.authorization.k8s.io" }]);
  assert.match(causes(moved)[0] ?? "", /cannot change roleRef$/);
});

test("webhook configurations get defaults and must say their side effects", async () => {
  const bench = new Bench();
  const path = "admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  const webhook = {
    name: "a.example.com",
    clientConfig: { service: { namespace: "default", name: "hook" } },
    rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
    admissionReviewVersions: ["v1"],
  };

  const silent = await bench.ask("create", path, { body: { metadata: { name: "a" }, webhooks: [webhook] } });
  const made = await bench.must("create", path, {
    body: { metadata: { name: "a" }, webhooks: [{ ...webhook, sideEffects: "None" }] },
  });

  assert.deepEqual(causes(silent), ["webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"]);
  const [stored] = made["webhooks"] as Record<string, unknown>[];
  assert.equal(stored?.["failurePolicy"], "Fail");
  assert.equal(stored?.["timeoutSeconds"], 10);
  assert.deepEqual(stored?.["clientConfig"], { service: { namespace: "default", name: "hook", port: 443 } });
  assert.equal(made.metadata.generation, 1);
});

test("Events must be about something in their own Namespace, and can be selected by it", async () => {
  const bench = new Bench();
  const event = (namespace: string): object => ({
    metadata: { name: "a" },
    involvedObject: { kind: "Pod", name: "p", namespace },
    reason: "R",
  });

  const wrong = await bench.ask("create", "v1/events", { ...ns, body: event("kube-system") });
  await bench.must("create", "v1/events", { ...ns, body: event("default") });
  const query = { fieldSelector: "involvedObject.kind=Pod,reason=R" };
  const found = await bench.ask("list", "v1/events", { ...ns, query });

  assert.deepEqual(causes(wrong), [
    'involvedObject.namespace: Invalid value: "kube-system": does not match event.namespace',
  ]);
  assert.equal(((found.body as Record<string, unknown>)["items"] as unknown[]).length, 1);
});

test("EndpointSlices keep their address type and know good addresses", async () => {
  const bench = new Bench();
  const path = "discovery.k8s.io/v1/endpointslices";
  const slice = {
    metadata: { name: "a" },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"] }],
    ports: [{ port: 80 }],
  };

  const made = await bench.must("create", path, { ...ns, body: slice });
  const moved = await bench.patch(path, { ...a, body: { addressType: "IPv6" } });

  assert.deepEqual(made["ports"], [{ port: 80, name: "", protocol: "TCP" }]);
  assert.ok(causes(moved).includes('addressType: Invalid value: "IPv6": field is immutable'));
});
