import assert from "node:assert/strict";
import { before, test } from "node:test";
import { connectionFromSecret, missingSecret } from "../../../lib/kube/access/secret.ts";
import type { KubeObject } from "../../../lib/kube/client.ts";
import { testAuthority } from "../../support/tls-server.ts";

const SOURCE = { cluster: "east", namespace: "kube-system", name: "leader-token" };
const URL = "https://leader.example:6443";
const TOKEN = "eyJhbGciOi.canary.token";
let ca: string;

before(async () => {
  ca = (await testAuthority()).caPem;
});

function secret(data: Readonly<Record<string, string>> | undefined): KubeObject {
  const encoded = Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "leader-token", namespace: "kube-system" },
    ...(data === undefined ? {} : { data: Object.fromEntries(encoded) }),
  };
}

test("makes a connection of the Secret and the ClusterSet's server", () => {
  const result = connectionFromSecret(
    secret({ "ca.crt": ca, token: TOKEN, namespace: "antrea-mc" }),
    SOURCE,
    `${URL}/`,
  );

  assert.ok(result.ok);
  assert.equal(result.value.server.href, URL);
  assert.equal(result.value.ca, ca);
  assert.deepEqual(result.value.credential, { kind: "token", token: TOKEN });
});

test("trims the newline after a token", () => {
  const result = connectionFromSecret(secret({ "ca.crt": ca, token: `${TOKEN}\r\n` }), SOURCE, URL);

  assert.ok(result.ok);
  assert.deepEqual(result.value.credential, { kind: "token", token: TOKEN });
});

test("takes a bundle of several certificates", async () => {
  assert.ok(connectionFromSecret(secret({ "ca.crt": `# old\n${ca}\n${ca}`, token: TOKEN }), SOURCE, URL).ok);
});

const BROKEN_PEM = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

test("names what is missing or bad, and how to make it right, and no part of the token", () => {
  const cases: readonly (readonly [
    data: Readonly<Record<string, string>> | undefined,
    problem: RegExp,
    key: string,
  ])[] = [
    [{ token: TOKEN }, /ca\.crt data not found in Secret leader-token/, "ca.crt"],
    [undefined, /ca\.crt data not found in Secret leader-token/, "ca.crt"],
    [{ "ca.crt": " \n", token: TOKEN }, /ca\.crt data not found in Secret leader-token/, "ca.crt"],
    [{ "ca.crt": ca }, /token not found in Secret leader-token/, "token"],
    [{ "ca.crt": ca, token: "" }, /token not found in Secret leader-token.*empty/, "token"],
    [{ "ca.crt": ca, token: " \n" }, /token not found in Secret leader-token.*empty/, "token"],
    [{ "ca.crt": ca, token: `${TOKEN}\nsecond line` }, /characters that no token has/, "token"],
    [{ "ca.crt": "no PEM", token: TOKEN }, /ca\.crt of Secret leader-token is not PEM/, "ca.crt"],
    [{ "ca.crt": BROKEN_PEM, token: TOKEN }, /certificate that cannot be read/, "ca.crt"],
    [{ "ca.crt": `${ca}${BROKEN_PEM}`, token: TOKEN }, /certificate that cannot be read/, "ca.crt"],
  ];
  for (const [data, problem, key] of cases) {
    const result = connectionFromSecret(secret(data), SOURCE, URL);

    assert.ok(!result.ok);
    assert.match(result.error.problem, problem);
    assert.match(result.error.problem, /cluster east, Namespace kube-system/);
    assert.equal(result.error.path, `Secret kube-system/leader-token data["${key}"]`);
    assert.match(result.error.remedy, /kubectl -n kube-system create secret generic leader-token --from-file=ca.crt/);
    assert.doesNotMatch(JSON.stringify(result), /canary/);
  }
});

test("reads nothing from data that is of another type than it should be", () => {
  for (const data of ["x", 3, [], { "ca.crt": 3 }, { "ca.crt": null }]) {
    const result = connectionFromSecret({ metadata: {}, data }, SOURCE, URL);

    assert.ok(!result.ok);
    assert.match(result.error.problem, /ca\.crt data not found in Secret leader-token/);
  }
});

test("tells a bad server URL and a missing Secret", () => {
  const result = connectionFromSecret(secret({ "ca.crt": ca, token: TOKEN }), SOURCE, "http://leader:6443");

  assert.ok(!result.ok);
  assert.equal(result.error.path, "spec.leaders[0].server");
  assert.match(missingSecret(SOURCE).problem, /Secret leader-token not found/);
});
