import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseServerUrl } from "../../lib/kube/server-url.ts";

const SAME = ["https://h:6443", "https://h:6443/", "https://h:6443//", "HTTPS://H:6443", " https://h:6443\n", "h:6443"];
const PREFIXED = ["https://h:6443/k8s/clusters/c-1", "https://h:6443/k8s/clusters/c-1/"];

test("takes spellings of one server for one server", () => {
  for (const text of SAME) {
    assert.deepEqual(parseServerUrl(text), {
      ok: true,
      value: { origin: "https://h:6443", prefix: "", href: "https://h:6443", host: "h", port: 6443 },
    });
  }
});

test("keeps a path prefix", () => {
  for (const text of PREFIXED) {
    const url = parseServerUrl(text);
    assert.ok(url.ok);
    assert.equal(url.value.origin, "https://h:6443");
    assert.equal(url.value.prefix, "/k8s/clusters/c-1");
    assert.equal(url.value.href, "https://h:6443/k8s/clusters/c-1");
  }
});

test("reads IPv6 addresses and the default port", () => {
  for (const [text, origin, host, port] of [
    ["https://[::1]:6443", "https://[::1]:6443", "::1", 6443],
    ["https://[FD00::0:1]", "https://[fd00::1]", "fd00::1", 443],
    ["[::1]:6443", "https://[::1]:6443", "::1", 6443],
    ["https://h", "https://h", "h", 443],
    ["https://h:443", "https://h", "h", 443],
  ] as const) {
    const url = parseServerUrl(text);
    assert.ok(url.ok, text);
    assert.deepEqual([url.value.origin, url.value.host, url.value.port], [origin, host, port]);
  }
});

const REFUSED: readonly (readonly [text: string, problem: RegExp, remedy: RegExp])[] = [
  ["http://h:6443", /plain http/, /https:\/\/h:6443/],
  ["https://user:s3cret@h:6443", /user name or password/, /token/],
  ["https://s3cret@h:6443", /user name or password/, /token/],
  ["http://user:s3cret@h:6443", /user name or password/, /token/],
  ["ftp://h", /scheme ftp/, /https:\/\/HOST:PORT/],
  ["https://h:6443?x=1", /query/, /https:\/\/HOST:PORT/],
  ["https://h:6443/#x", /fragment/, /https:\/\/HOST:PORT/],
  ["https://h:99999", /cannot be read/, /https:\/\/HOST:PORT/],
  ["https://", /cannot be read/, /https:\/\/HOST:PORT/],
  ["", /empty/, /https:\/\/HOST:PORT/],
  ["  ", /empty/, /https:\/\/HOST:PORT/],
];

for (const [text, problem, remedy] of REFUSED) {
  test(`refuses ${JSON.stringify(text)} without repeating a secret`, () => {
    const url = parseServerUrl(text);

    assert.ok(!url.ok);
    assert.match(url.error.problem, problem);
    assert.match(url.error.remedy, remedy);
    assert.doesNotMatch(JSON.stringify(url), /s3cret/);
  });
}

test("the normal form is its own normal form", () => {
  fc.assert(
    fc.property(fc.webUrl({ validSchemes: ["https"], withFragments: false, withQueryParameters: false }), (text) => {
      const url = parseServerUrl(text);
      assert.ok(url.ok);
      assert.deepEqual(parseServerUrl(url.value.href), url);
      assert.deepEqual(parseServerUrl(`${url.value.href}/`), url);
    }),
  );
});
