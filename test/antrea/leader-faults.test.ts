import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { FaultAction } from "../../infra/local/cluster/faults/faults.ts";
import { until } from "../support/until.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";
import { NAMESPACE, type WireStatus } from "./role-harness.ts";
import { startWorkingRole, type WorkingRole } from "./working-role.ts";

/** Shorter than a try of a beat, whose limit the leader counts by the same clock. */
const STEP_MS = 200;
const HTML = { "content-type": "text/html" };
const CASES: readonly (readonly [what: string, action: FaultAction, cause: string, words: RegExp])[] = [
  [
    "500",
    { kind: "status", code: 500, reason: "InternalError", message: "etcd is away" },
    "ServerError",
    /500.*etcd is away/,
  ],
  ["503", { kind: "status", code: 503, reason: "ServiceUnavailable" }, "ServerError", /503/],
  ["silence", { kind: "hang" }, "TimedOut", /no answer within/],
  ["a connection that is reset", { kind: "reset" }, "APIServerUnreachable", /Check|ECONNRESET|broke|closed/i],
  ["a connection that is dead, and looks open", { kind: "halfOpen" }, "TimedOut", /no answer within/],
  [
    "HTML instead of JSON",
    { kind: "status", code: 200, body: "<html><body>Welcome</body></html>", headers: HTML },
    "ServerError",
    /no API object.*Check that the server URL is an API server's/,
  ],
  [
    "a proxy's error page",
    { kind: "status", code: 502, body: "<html><h1>502 Bad Gateway</h1><hr>nginx</html>", headers: HTML },
    "ServerError",
    /502.*Bad Gateway.*nginx/,
  ],
  ["half an object", { kind: "truncate", bytes: 40, clean: true }, "ServerError", /no API object/],
];

describe("a leader over HTTPS that answers with", { timeout: 100_000 }, () => {
  let world: AntreaWorld;
  let role: WorkingRole;
  const ready = (cluster: string) => role.store.condition(cluster, "Ready");
  const status = (cluster: string): WireStatus =>
    (world.memberClusters.get(cluster)?.engine.readOne("multicluster.crd.antrea.io", "clustersets", NAMESPACE, "set")?.[
      "status"
    ] ?? {}) as WireStatus;
  const beatsOf = (cluster: string, fromMs: number) =>
    world.leaderCluster.requestLog.entries(
      ({ verb, user, atMs }) => verb === "patch" && user?.endsWith(`:member-${cluster}`) === true && atMs > fromMs,
    );
  const passBeats = async (outcome: string, count: number): Promise<void> => {
    for (let beat = 0; beat < count; beat += 1) {
      const seen = role.beats("east").length;
      await world.pass(10_000, STEP_MS);
      await until(() => role.beats("east").length > seen);
      assert.equal(role.beats("east").at(-1), outcome);
    }
  };

  before(async () => {
    world = await startAntreaWorld("east", "west");
    role = await startWorkingRole(world, ["east", "west"], { timing: { beatTimeoutMs: 900 } });
    await world.pass(20_000, STEP_MS);
    await until(() => ready("east")?.status === "True" && ready("west")?.status === "True");
  });
  after(async () => {
    await role.end();
    await world.end();
  });

  for (const [what, action, cause, words] of CASES) {
    it(`${what}: Disconnected at the third beat with cause and words, and back with the first that arrives`, async () => {
      const match = { verbs: ["patch"], resource: "memberclusterannounces", user: "*:member-east" };
      const fault = world.leaderCluster.faults.add({ match, action });
      const events = role.store.events.length;

      await passBeats("failed", 2);
      assert.equal(ready("east")?.status, "True", "two are not enough");
      await passBeats("failed", 1);
      await until(() => status("east").conditions?.[0]?.["status"] === "False");

      assert.deepEqual(
        [ready("east")?.status, ready("east")?.reason, ready("east")?.cause],
        ["False", "Disconnected", cause],
      );
      const message = ready("east")?.message ?? "";
      assert.match(message, /^patch memberclusterannounces antrea-multicluster\/member-announce-from-east: /);
      assert.match(message, words);
      assert.doesNotMatch(message, /<|>/);
      assert.equal(status("east").clusterStatuses?.[0]?.conditions[0]?.["message"], message);
      assert.equal(ready("west")?.status, "True", "nobody else is touched");

      fault.remove();
      await passBeats("ok", 1);
      await until(() => ready("east")?.status === "True" && status("east").conditions?.[0]?.["status"] === "True");
      assert.deepEqual(
        role.store.events.slice(events).map(({ cluster, kind }) => `${cluster} ${kind}`),
        ["east Disconnected", "east Connected"],
      );
      assert.deepEqual(role.bugs, []);
    });
  }

  it("429 and Retry-After: 20 is left alone, and asked once 27 s after the last success; nobody else waits", async () => {
    await passBeats("ok", 1);
    const succeededMs = beatsOf("east", 0).at(-1)?.atMs ?? 0;
    const match = { verbs: ["patch"], resource: "memberclusterannounces", user: "*:member-east" };
    const action = { kind: "status", code: 429, reason: "TooManyRequests", headers: { "retry-after": "20" } } as const;
    const fault = world.leaderCluster.faults.add({ match, action, times: 1 });
    const since = ready("east")?.lastTransitionTime;

    await world.pass(30_000, STEP_MS);
    fault.remove();

    const sent = beatsOf("east", succeededMs).map(({ atMs, status: code }) => [
      Math.round((atMs - succeededMs) / 1_000),
      code,
    ]);
    assert.deepEqual(sent, [
      [10, 429],
      [27, 200],
      [30, 200],
    ]);
    assert.deepEqual(
      role.beats("east").slice(-4),
      ["throttled", "withheld", "ok", "ok"],
      "what was put off is counted as such",
    );
    assert.ok(beatsOf("west", succeededMs).length >= 3);
    assert.deepEqual(
      [ready("east")?.status, ready("east")?.failures, ready("east")?.lastTransitionTime],
      ["True", 0, since],
    );
  });
});
