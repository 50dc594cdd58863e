import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cleanFacts, errorFacts, redactText } from "../../lib/runtime/redact.ts";

const CANARY = "c4n4ry0123456789abcdef";

const SECRETS: Readonly<Record<string, string>> = {
  "a ServiceAccount token": `eyJhbGciOiJSUzI1NiJ9.${CANARY}.${CANARY}`,
  "a token header": `eyJhbGciOiJSUzI1NiIsImtpZCI6I.${CANARY}`,
  "an Authorization header": `Authorization: Bearer ${CANARY}`,
  "basic credentials": `Basic ${CANARY}`,
  "a private key": `-----BEGIN EC PRIVATE KEY-----\n${CANARY}\n-----END EC PRIVATE KEY-----`,
  "half a private key": `-----BEGIN PRIVATE KEY-----\n${CANARY}`,
  "an EKS token": `k8s-aws-v1.${CANARY}`,
  "a signed URL": `https://sts.amazonaws.com/?X-Amz-Signature=${CANARY}&X-Amz-Credential=${CANARY}`,
  "a bootstrap token": "c4n4ry.0123456789abcdef",
  "a URL with a password": `https://admin:${CANARY}@10.0.0.1:6443/`,
  "a kubeconfig": `users: [{user: {client-key-data: "${CANARY}", token: ${CANARY}}}]`,
};

for (const [what, secret] of Object.entries(SECRETS)) {
  test(`replaces ${what} wherever it stands`, () => {
    const texts = [secret, `before ${secret} after`, JSON.stringify({ nested: secret })].map(redactText);

    for (const text of texts) assert.doesNotMatch(text, /c4n4ry/);
  });
}

test("leaves words, names, times and hashes alone", () => {
  const text =
    "patch memberclusterannounces antrea-multicluster/member-announce-from-east at 2026-12-01T00:00:00Z: " +
    "403 Forbidden by https://10.0.0.1:6443 (uid 2f3b3c1e-6a5d-4a3e-9b57-3f1d0c8a7e11), version v1.34.2";

  assert.equal(redactText(text), text);
});

test("hides what a field's name says is a secret, whatever it looks like", () => {
  const facts = cleanFacts({ token: "short", leaderToken: "x", kubeconfig: "y", clientKey: "z", cluster: "east" });

  assert.deepEqual(facts, {
    token: "[redacted]",
    leaderToken: "[redacted]",
    kubeconfig: "[redacted]",
    clientKey: "[redacted]",
    cluster: "east",
  });
});

test("an error becomes its name, words, stack and cause, without secrets", () => {
  const cause = new Error(`Bearer ${CANARY}`);
  const facts = cleanFacts(errorFacts(new TypeError("fetch failed", { cause })));

  assert.equal(facts.errorName, "TypeError");
  assert.equal(facts.errorMessage, "fetch failed");
  assert.match(String(facts.errorStack), /redact\.test\.ts/);
  assert.equal(facts.errorCause, "Error: [redacted]");
});

test("all facts of a line stay below 16 KiB together, whatever they are", () => {
  const value = fc.oneof(fc.string({ maxLength: 5000 }), fc.integer(), fc.boolean(), fc.array(fc.string()));
  fc.assert(
    fc.property(fc.dictionary(fc.string({ minLength: 1, maxLength: 300 }), value, { maxKeys: 60 }), (facts) => {
      assert.ok(Buffer.byteLength(JSON.stringify(cleanFacts(facts))) < 15_000);
    }),
  );
});

test("says how many facts did not fit", () => {
  const facts = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`fact${i}`, "x".repeat(2000)]));

  const clean = cleanFacts(facts);

  assert.equal(clean.factsDropped, 20 - (Object.keys(clean).length - 1));
});
