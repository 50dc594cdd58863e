import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { systemClock } from "../../lib/base/clock.ts";
import { causeOf } from "../../lib/kube/cause.ts";
import type { KubeClient } from "../../lib/kube/client.ts";
import type { KubeError } from "../../lib/kube/errors.ts";
import { Connections } from "../../lib/kube/pool.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startTlsServer, type TlsHandler, type TlsServer } from "../support/tls-server.ts";
import { ANNOUNCE, CALL, clientOf, connectionTo, status, TOKEN } from "./client-fixture.ts";

let answer: TlsHandler;
let server: TlsServer;
let client: KubeClient;
let connections: Connections;

before(async () => {
  server = await startTlsServer((request, reply) => answer(request, reply));
  connections = new Connections({ clock: systemClock, random: seededRandom(1), version: "0" });
  client = clientOf(connections, connectionTo(server));
});

after(async () => {
  await connections.close();
  await server.close();
});

/** The error of a merge patch that is answered so. */
async function errorOf(code: number, body: unknown, headers: Record<string, string> = {}): Promise<KubeError> {
  answer = (_request, reply) => reply.send(code, body, headers);
  const result = await client.mergePatch(ANNOUNCE, {}, CALL);
  assert.ok(!result.ok);
  return result.error;
}

const DENIED = 'admission webhook "vmemberclusterannounce.kb.io" denied the request';

const STATUSES: readonly {
  readonly name: string;
  readonly code: number;
  readonly body: object;
  readonly expect: Readonly<Record<string, unknown>>;
  readonly cause: string;
}[] = [
  {
    name: "401",
    code: 401,
    body: status(401, "Unauthorized", "Unauthorized"),
    expect: { kind: "unauthorized", status: 401 },
    cause: "CredentialRefused",
  },
  {
    name: "403 by RBAC",
    code: 403,
    body: status(403, "Forbidden", 'memberclusterannounces is forbidden: User "x" cannot patch resource'),
    expect: { kind: "forbidden", status: 403 },
    cause: "PermissionDenied",
  },
  {
    name: "404",
    code: 404,
    body: status(404, "NotFound", 'memberclusterannounces "x" not found'),
    expect: { kind: "notFound", status: 404 },
    cause: "ConfigurationInvalid",
  },
  {
    name: "409 Conflict",
    code: 409,
    body: status(409, "Conflict", "the object has been modified"),
    expect: { kind: "conflict", status: 409, retry: "never" },
    cause: "ServerError",
  },
  {
    name: "409 AlreadyExists",
    code: 409,
    body: status(409, "AlreadyExists", "already exists"),
    expect: { kind: "alreadyExists", status: 409, retry: "never" },
    cause: "ServerError",
  },
  {
    name: "410 Expired",
    code: 410,
    body: status(410, "Expired", "too old resource version"),
    expect: { kind: "gone", status: 410 },
    cause: "ServerError",
  },
  {
    name: "410 Gone",
    code: 410,
    body: status(410, "Gone", "gone"),
    expect: { kind: "gone", status: 410 },
    cause: "ServerError",
  },
  {
    name: "a resourceVersion from the future",
    code: 504,
    body: status(504, "Timeout", "Too large resource version: 9, current: 5", {
      details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
    }),
    expect: { kind: "gone" },
    cause: "ServerError",
  },
  {
    name: "422 with a field",
    code: 422,
    body: status(422, "Invalid", "invalid", { details: { causes: [{ field: "spec.clusterID", message: "no" }] } }),
    expect: { kind: "invalid", status: 422, field: "spec.clusterID", retry: "never" },
    cause: "ConfigurationInvalid",
  },
  {
    name: "400",
    code: 400,
    body: status(400, "BadRequest", "bad"),
    expect: { kind: "invalid", status: 400, field: undefined },
    cause: "ConfigurationInvalid",
  },
  {
    name: "415",
    code: 415,
    body: status(415, "UnsupportedMediaType", "no"),
    expect: { kind: "invalid", status: 415 },
    cause: "ConfigurationInvalid",
  },
  {
    name: "500",
    code: 500,
    body: status(500, "InternalError", "boom"),
    expect: { kind: "unavailable", status: 500, retryAfterMs: undefined, retry: "backoff" },
    cause: "ServerError",
  },
  {
    name: "503 with retryAfterSeconds in the body",
    code: 503,
    body: status(503, "ServiceUnavailable", "soon", { details: { retryAfterSeconds: 5 } }),
    expect: { kind: "unavailable", status: 503, retryAfterMs: 5000, retry: "after" },
    cause: "ServerError",
  },
  {
    name: "504 of the API server itself",
    code: 504,
    body: status(504, "Timeout", "request did not complete within the allotted timeout"),
    expect: { kind: "timeout", phase: "answer" },
    cause: "TimedOut",
  },
  ...[400, 403, 412, 422].map((code) => ({
    name: `a webhook's refusal with code ${code}`,
    code,
    body: status(code, "Forbidden", `${DENIED}: no valid ServiceAccount was found`),
    expect: {
      kind: "webhookDenied",
      status: code,
      webhook: "vmemberclusterannounce.kb.io",
      denial: "no valid ServiceAccount was found",
    },
    cause: "DeniedByLeaderWebhook",
  })),
  {
    name: "a webhook's refusal without words",
    code: 403,
    body: status(403, "Forbidden", `${DENIED} without explanation`),
    expect: { kind: "webhookDenied", denial: "" },
    cause: "DeniedByLeaderWebhook",
  },
  {
    name: "a refusal that speaks of a failed webhook",
    code: 403,
    body: status(403, "Forbidden", `${DENIED}: failed calling webhook "other"`),
    expect: { kind: "webhookDenied", denial: 'failed calling webhook "other"' },
    cause: "DeniedByLeaderWebhook",
  },
  {
    name: "RBAC's words about an object that is named like a refusal",
    code: 403,
    body: status(403, "Forbidden", `secrets "${DENIED}" is forbidden`),
    expect: { kind: "forbidden" },
    cause: "PermissionDenied",
  },
  {
    name: "a webhook that cannot be called",
    code: 500,
    body: status(500, "InternalError", 'Internal error occurred: failed calling webhook "v.kb.io": no endpoints'),
    expect: { kind: "webhookUnavailable", status: 500, webhook: "v.kb.io" },
    cause: "LeaderWebhookUnavailable",
  },
  {
    name: "an old server's words for the same",
    code: 500,
    body: status(500, "InternalError", 'Internal error occurred: failed calling admission webhook "v.kb.io": EOF'),
    expect: { kind: "webhookUnavailable", webhook: "v.kb.io" },
    cause: "LeaderWebhookUnavailable",
  },
];

for (const { name, code, body, expect, cause } of STATUSES) {
  test(`tells ${name}`, async () => {
    const error = await errorOf(code, body);

    assert.deepEqual({ ...error, ...expect }, error);
    assert.equal(causeOf(error), cause);
    assert.ok(error.message.startsWith(`patch memberclusterannounces antrea-mc/member-announce-from-east: ${code}`));
    assert.match(error.message, /leader of east, https:\/\/127/);
  });
}

const FOREIGN: readonly (readonly [name: string, code: number, type: string, body: string, kind: string])[] = [
  ["an unknown API group", 404, "text/plain; charset=utf-8", "404 page not found\n", "notFound"],
  ["a page not found by a load balancer", 404, "text/html", "<h1>Not here</h1>", "unexpected"],
  [
    "an overloaded server's plain text",
    429,
    "text/plain",
    "Too many requests, please try again later.",
    "tooManyRequests",
  ],
  ["a proxy's page", 403, "text/html", "<html><style>x{}</style><b>Blocked by policy</b></html>", "unexpected"],
  ["a gateway's page", 502, "text/html", "<html>Bad gateway</html>", "unavailable"],
  ["a plain 401", 401, "text/plain", "Unauthorized", "unauthorized"],
  ["truncated JSON", 500, "application/json", '{"kind":"Status","mess', "unavailable"],
  ["JSON that is no Status", 409, "application/json", '{"error":"x"}', "unexpected"],
  ["a Status of success", 400, "application/json", '{"kind":"Status","status":"Success"}', "unexpected"],
  ["a redirect", 302, "text/html", "", "unexpected"],
];

for (const [name, code, type, body, kind] of FOREIGN) {
  test(`tells ${name}`, async () => {
    const error = await errorOf(code, body, { "content-type": type });

    assert.equal(error.kind, kind);
    assert.doesNotMatch(error.message, /<|x\{\}/);
  });
}

const RETRY_AFTER: readonly (readonly [header: string | undefined, ms: number | "default"])[] = [
  ["20", 20_000],
  ["0", 0],
  [undefined, "default"],
  ["-1", "default"],
  ["abc", "default"],
  ["86400", "default"],
  ["1.5", "default"],
];

for (const [header, ms] of RETRY_AFTER) {
  test(`waits after a 429 with Retry-After ${header ?? "absent"}`, async () => {
    const body = status(429, "TooManyRequests", "slow down");

    const error = await errorOf(429, body, header === undefined ? {} : { "retry-after": header });

    assert.ok(error.kind === "tooManyRequests");
    assert.equal(error.retry, ms === "default" ? "backoff" : "after");
    if (ms !== "default") assert.equal(error.retryAfterMs, ms);
    assert.ok(error.retryAfterMs <= 60_000 && (ms !== "default" || error.retryAfterMs >= 500));
  });
}

test("reads Retry-After as a date by the server's own clock", async () => {
  const headers = { date: "Thu, 01 Jan 2026 00:00:00 GMT", "retry-after": "Thu, 01 Jan 2026 00:00:20 GMT" };

  const error = await errorOf(429, status(429, "TooManyRequests", "slow"), headers);

  assert.equal(error.kind === "tooManyRequests" && error.retryAfterMs, 20_000);
});

const LONG = `${"a".repeat(200)}${"€".repeat(8000)} Bearer ${TOKEN} ${"€".repeat(8600)}`;
const LONG_BODIES: readonly (readonly [name: string, body: unknown, headers: Record<string, string>])[] = [
  ["text", LONG, {}],
  ["a Status", status(500, "InternalError", LONG), {}],
  ["a Status that begins with the token", status(500, "InternalError", `${TOKEN} ${LONG}`), {}],
  ["bytes that are no UTF-8", Buffer.alloc(50_000, 0xff), {}],
  ["a page", `<html>${"<i>".repeat(10_000)}${LONG}</html>`, { "content-type": "text/html" }],
  ["foreign JSON", { token: TOKEN, text: LONG }, {}],
];

for (const [name, body, headers] of LONG_BODIES) {
  test(`keeps the message of 50 kB of ${name} short, clean and honest`, async () => {
    const { message } = await errorOf(500, body, headers);

    assert.ok(Buffer.byteLength(message) <= 4096, String(Buffer.byteLength(message)));
    assert.ok(message.isWellFormed());
    assert.ok(message.startsWith("patch memberclusterannounces antrea-mc/member-announce-from-east: 500"));
    assert.match(message, /\[cut by \d{5,6} bytes\]/);
    assert.doesNotMatch(message, /canary/);
    assert.match(message, /It is tried again/);
  });
}

test("keeps what a short error echoes of the token out of the message and the denial", async () => {
  const error = await errorOf(403, status(403, "Forbidden", `${DENIED}: you sent ${TOKEN} and Bearer abcdefghijk.l`));

  assert.ok(error.kind === "webhookDenied");
  assert.equal(error.denial, "you sent [redacted] and Bearer [redacted]");
  assert.doesNotMatch(JSON.stringify(error), /canary|abcdefghijk/);
});

test("shows no token of anybody that a leader echoes, as it is or in base64", async () => {
  const other = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQifQ.c2lnbmF0dXJl-_x";
  const ours = Buffer.from(TOKEN).toString("base64");
  const error = await errorOf(403, status(403, "Forbidden", `${DENIED}: not ${other}, and not ${ours}`));

  assert.ok(error.kind === "webhookDenied");
  assert.equal(error.denial, "not [redacted], and not [redacted]");
});

test("shows nothing of a success that cannot be read", async () => {
  answer = (_request, reply) => reply.send(200, '{"data":{"token":"c2VjcmV0"}', { "content-type": "application/json" });

  const result = await client.get(ANNOUNCE, CALL);

  assert.ok(!result.ok && result.error.kind === "unexpected");
  assert.doesNotMatch(result.error.message, /c2VjcmV0/);
});

test("does not read an endless error to its end", async () => {
  const chunk = "x".repeat(60_000);
  answer = (_request, reply) => {
    reply.begin(500, { "content-type": "text/plain" }, chunk);
    for (let i = 0; i < 20; i += 1) reply.part(chunk);
  };

  const result = await client.mergePatch(ANNOUNCE, {}, CALL);

  assert.ok(!result.ok && result.error.kind === "unavailable");
});
