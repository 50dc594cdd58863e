import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { type TestContext, test } from "node:test";
import { assertHas, assertStatus } from "../assertions.ts";
import {
  approve,
  CLIENT_SIGNER,
  issued,
  requestFor,
  SIGNING_REQUESTS,
  signingRequest,
} from "../certificate-request.ts";
import type { Answer } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";

/** CertificateSigningRequests: what is checked, who decides, what is signed. */
export function certificateCases(area: () => Area): void {
  const nameOf = (name: string): string => `contract-${area().token}-${name}`;
  const ask = async (t: TestContext, name: string, request: string, spec: object = {}): Promise<Answer> => {
    t.after(() => area().admin.request("DELETE", `${SIGNING_REQUESTS}/${nameOf(name)}`));
    const body = signingRequest(nameOf(name), request, spec);
    return await area().admin.request("POST", SIGNING_REQUESTS, { body });
  };
  const decide = async (name: string, type: "Approved" | "Denied") => await approve(area().admin, nameOf(name), type);

  test("the server writes down who asks, whatever the request says of it", async (t) => {
    const { request } = await requestFor("somebody");

    const answer = await ask(t, "asker", request, { username: "another", groups: ["others"] });

    assert.equal(answer.code, 201, answer.text);
    const { username, groups, usages, signerName } = answer.json["spec"] as {
      username: string;
      groups: string[];
      usages: string[];
      signerName: string;
    };
    assert.notEqual(username, "another");
    assert.ok(groups.includes("system:authenticated"));
    assert.deepEqual([usages, signerName], [["client auth"], CLIENT_SIGNER]);
    assert.deepEqual(answer.json["status"], {});
  });

  test("what is no request, signer, usage or duration: 422", async (t) => {
    const { request } = await requestFor("somebody");
    const causes = (field: string) => ({ code: 422, reason: "Invalid", details: { causes: [{ field }] } });

    assertStatus(await ask(t, "bad-1", "no PEM"), causes("spec.request"));
    assertStatus(await ask(t, "bad-2", request, { signerName: "unqualified" }), causes("spec.signerName"));
    assertStatus(await ask(t, "bad-3", request, { signerName: "" }), causes("spec.signerName"));
    assertStatus(await ask(t, "bad-4", request, { usages: ["anything"] }), causes("spec.usages[0]"));
    assertStatus(await ask(t, "bad-5", request, { usages: [] }), causes("spec.usages"));
    assertStatus(await ask(t, "bad-6", request, { expirationSeconds: 599 }), causes("spec.expirationSeconds"));
  });

  test("a request whose signature does not fit: 422", async (t) => {
    const { request } = await requestFor("somebody");
    const bytes = Buffer.from(request.replace(/-----[A-Z ]+-----|\s/g, ""), "base64");
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
    const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString("base64")}\n-----END CERTIFICATE REQUEST-----\n`;

    const answer = await ask(t, "forged", forged);

    // Servers leave the signature to the signer: nothing is issued for it.
    assert.ok([201, 422].includes(answer.code), answer.text);
  });

  test("approved by the subresource approval, signed for the subject that was asked for", async (t) => {
    const { admin } = area();
    const { key, request } = await requestFor("contract:somebody", ["contract:one", "contract:two"]);
    await ask(t, "signed", request);

    const approved = await decide("signed", "Approved");
    const certificate = new X509Certificate(await issued(admin, nameOf("signed")));

    assert.equal(approved.code, 200, approved.text);
    assert.equal(certificate.toLegacyObject().subject.CN, "contract:somebody");
    assert.deepEqual(certificate.toLegacyObject().subject["O"], ["contract:one", "contract:two"]);
    assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.2"]);
    assert.equal(certificate.ca, false);
    const user = admin.as({ cert: certificate.toString(), key });
    t.after(() => user.close());
    const review = await user.must("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      apiVersion: "authentication.k8s.io/v1",
      kind: "SelfSubjectReview",
    });
    assertHas(review["status"], {
      userInfo: { username: "contract:somebody", groups: ["contract:one", "contract:two", "system:authenticated"] },
    });
  });

  test("the certificate lives as long as was asked for, give or take the signer's allowance", async (t) => {
    const { admin } = area();
    const { request } = await requestFor("contract:short");
    await ask(t, "short", request, { expirationSeconds: 3600 });
    await decide("short", "Approved");

    const { validFromDate, validToDate } = new X509Certificate(await issued(admin, nameOf("short")));

    const minutes = (validToDate.getTime() - Date.now()) / 60_000;
    assert.ok(minutes > 50 && minutes <= 61, `${minutes} minutes`);
    assert.ok(validFromDate.getTime() <= Date.now());
  });

  test("denied: a condition with reason and message; it is never signed, and cannot be approved any more", async (t) => {
    const { admin } = area();
    const { request } = await requestFor("contract:denied");
    await ask(t, "denied", request);

    const denied = await decide("denied", "Denied");
    const both = await decide("denied", "Approved");

    assertHas(denied.json["status"], {
      conditions: [{ type: "Denied", status: "True", reason: "Contract", message: "Denied by the contract" }],
    });
    assertStatus(both, { code: 422, reason: "Invalid" });
    const { status } = await admin.must("GET", `${SIGNING_REQUESTS}/${nameOf("denied")}`);
    assert.equal((status as { certificate?: string }).certificate, undefined);
  });

  test("a decision gets its times from the server", async (t) => {
    const { request } = await requestFor("contract:times");
    await ask(t, "times", request);

    const { json } = await decide("times", "Approved");

    const [condition] = (json["status"] as { conditions: Record<string, string>[] }).conditions;
    assert.match(condition?.["lastUpdateTime"] ?? "", /^\d{4}-/);
    assert.match(condition?.["lastTransitionTime"] ?? "", /^\d{4}-/);
  });

  test("the subresource status does not approve, an update does not change the spec", async (t) => {
    const { admin } = area();
    const { request } = await requestFor("contract:untouched");
    const { json: csr } = await ask(t, "untouched", request);
    const path = `${SIGNING_REQUESTS}/${nameOf("untouched")}`;
    const conditions = [{ type: "Approved", status: "True", reason: "Sneaky", message: "" }];

    const status = await admin.request("PUT", `${path}/status`, { body: { ...csr, status: { conditions } } });
    const now = await admin.must("GET", path);
    const update = await admin.request("PUT", path, {
      body: { ...now, spec: { ...Object(now["spec"]), usages: ["server auth"] } },
    });

    assert.ok([200, 422].includes(status.code), status.text);
    assert.equal((now["status"] as { conditions?: unknown }).conditions, undefined);
    assert.equal(update.code, 200, update.text);
    assertHas(update.json["spec"], { usages: ["client auth"] });
  });

  test("a certificate of the group system:masters cannot be had", async (t) => {
    const { request } = await requestFor("contract:master", ["system:masters"]);

    const answer = await ask(t, "master", request);

    assertStatus(answer, {
      code: 403,
      reason: "Forbidden",
      message: /use of kubernetes\.io\/kube-apiserver-client signer with system:masters group is not allowed/,
    });
  });

  test("a usage that the signer does not give: the request fails, with a condition that says why", async (t) => {
    const { admin } = area();
    const { request } = await requestFor("contract:server");
    await ask(t, "server", request, { usages: ["server auth"] });
    const watching = await admin.watch(
      `${SIGNING_REQUESTS}?watch=true&fieldSelector=metadata.name%3D${nameOf("server")}`,
    );
    t.after(() => watching.leave());
    await decide("server", "Approved");

    for (;;) {
      const event = await watching.next();
      const { conditions = [] } = (event?.object["status"] ?? {}) as {
        conditions?: { type: string; reason?: string }[];
      };
      const failed = conditions.find(({ type }) => type === "Failed");
      if (failed === undefined) continue;
      assert.equal(failed.reason, "SignerValidationFailure");
      break;
    }
  });

  test("listed by signer", async (t) => {
    const { request } = await requestFor("contract:listed");
    await ask(t, "listed", request, { signerName: `contract-${area().token}.hawser.test/signer` });

    const signer = encodeURIComponent(`spec.signerName=contract-${area().token}.hawser.test/signer`);
    const list = await area().admin.must("GET", `${SIGNING_REQUESTS}?fieldSelector=${signer}`);

    assert.deepEqual(
      (list.items ?? []).map((item) => item.metadata.name),
      [nameOf("listed")],
    );
  });
}
