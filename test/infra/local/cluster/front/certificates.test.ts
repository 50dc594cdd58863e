import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import { readClientCertificate } from "../../../../../infra/local/cluster/access/authentication-certificates.ts";
import { createCertificateAuthority } from "../../../../../infra/local/cluster/certificates.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";

const clock = new FakeClock();
const authority = await createCertificateAuthority("east-ca", clock);

test("a server certificate is good for all its names", async () => {
  const { cert, key } = await authority.issueServer(["127.0.0.1", "::1", "localhost"]);

  const parsed = new X509Certificate(cert);
  assert.equal(parsed.checkIP("127.0.0.1"), "127.0.0.1");
  assert.equal(parsed.checkHost("localhost"), "localhost");
  assert.ok(parsed.subjectAltName?.includes("0:0:0:0:0:0:0:1"));
  assert.ok(parsed.verify(new X509Certificate(authority.caPem).publicKey));
  assert.match(key, /BEGIN PRIVATE KEY/);
});

test("a client certificate stands for its CN and every O, special characters included", async () => {
  const issued = await authority.issueClient({ user: "system:a,b=c+d", groups: ["g one", "g+2"] });
  const { raw, fingerprint256 } = new X509Certificate(issued.cert);

  const user = readClientCertificate(raw, authority.caPem)(clock.now());

  const digest = fingerprint256.replaceAll(":", "").toLowerCase();
  assert.deepEqual(user, {
    username: "system:a,b=c+d",
    groups: ["g one", "g+2", "system:authenticated"],
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${digest}`] },
  });
});

test("a certificate is refused outside its time and from another authority", async () => {
  const der = new X509Certificate((await authority.issueClient({ user: "u" })).cert).raw;
  const stranger = await createCertificateAuthority("west-ca", clock);
  const later = new Date(clock.now().getTime() + 366 * 86_400_000);

  assert.equal(readClientCertificate(der, authority.caPem)(later), undefined);
  assert.equal(readClientCertificate(der, stranger.caPem)(clock.now()), undefined);
});
