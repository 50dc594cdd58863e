import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { parse } from "yaml";
import type { FaultAction } from "../../infra/local/cluster/faults/faults.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { createBeatTelemetry } from "../../lib/runtime/beat-telemetry.ts";
import { createLog, createLogger } from "../../lib/runtime/log.ts";
import { createRoleMetrics } from "../../lib/runtime/metrics.ts";
import type { Condition } from "../../lib/state/condition.ts";
import type { State } from "../../lib/state/state.ts";
import { specOf } from "../state/membership-samples.ts";
import { must, never, startTestServer, type TestTable } from "../state/test-table.ts";
import { captureOutput } from "../support/captured-output.ts";
import { settleIo } from "../support/until.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";
import { COMMON_AREA, NAMESPACE, type WireStatus } from "./role-harness.ts";
import { startWorkingRole, type WorkingRole } from "./working-role.ts";

const server = await startTestServer();
const LEADER_TOKEN = "canary-of-the-leader.5fQ0rYw3ZkT1mVd8.XbN7pLs2HgJ4";
const KEY = { cluster: "east", protocol: "antrea" } as const;
const JSON_TYPE = { "content-type": "application/json" };

/** Answers of 50 kB and more that repeat the credential they were sent, in the ways that servers and proxies do. */
function echoes(token: string): readonly (readonly [what: string, code: number, body: string, type: string])[] {
  const long = `${"a".repeat(200)} Authorization: Bearer ${token} ${"€".repeat(16_600)}`;
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    code: 500,
    reason: "InternalError",
  };
  return [
    ["text", 500, long, "text/plain"],
    ["a page", 502, `<html><pre>${long}</pre></html>`, "text/html"],
    ["a Status", 500, JSON.stringify({ ...status, message: long }), "application/json"],
    ["JSON that is no Status", 500, JSON.stringify({ headers: { authorization: token }, long }), "application/json"],
    ["a success that cannot be read", 200, `{"token":"${token}","long":"${long}`, "application/json"],
    [
      "a refusal",
      403,
      JSON.stringify({ ...status, code: 403, reason: "Forbidden", message: `you sent ${token}` }),
      "application/json",
    ],
  ];
}

describe("the credentials of a membership, in a table and a log", { timeout: 100_000 }, () => {
  let world: AntreaWorld;
  let table: TestTable;
  let state: State;
  let role: WorkingRole;
  let memberToken = "";
  const lines: string[] = [];
  const shown: string[] = [];
  const messages: string[] = [];

  const ready = async (): Promise<Condition | undefined> =>
    must(await state.readConditions("east", "antrea", never)).find(({ type }) => type === "Ready");
  const member = () => {
    const found = world.memberClusters.get("east");
    assert.ok(found !== undefined);
    return found;
  };
  const status = (): WireStatus =>
    (member().engine.readOne("multicluster.crd.antrea.io", "clustersets", NAMESPACE, "set")?.["status"] ??
      {}) as WireStatus;
  /** Lets time pass until the table shows it. */
  const passUntil = async (holds: (ready: Condition | undefined) => boolean): Promise<Condition | undefined> => {
    for (let tries = 0; tries < 120; tries += 1) {
      const now = await ready();
      if (holds(now)) return now;
      await world.pass(1_000);
      await settleIo();
    }
    assert.fail(`the table shows ${JSON.stringify(await ready())}`);
  };
  const answer = (code: number, body: string, type: string): FaultAction => ({
    kind: "status",
    code,
    body,
    headers: { ...JSON_TYPE, "content-type": type },
  });

  before(async () => {
    world = await startAntreaWorld("east");
    const kubeconfig = world.members.find(({ cluster }) => cluster === "east")?.kubeconfig ?? "";
    memberToken = (parse(kubeconfig) as { users: { user: { token: string } }[] }).users[0]?.user.token ?? "";
    const username = `system:serviceaccount:${COMMON_AREA}:member-east`;
    world.leaderCluster.authenticator.setToken({ token: LEADER_TOKEN, username, groups: [] });
    const secret = member().engine.readOne("", "secrets", NAMESPACE, "leader-token");
    assert.ok(secret !== undefined);
    const data = { ...(secret["data"] as object), token: Buffer.from(LEADER_TOKEN).toString("base64") };
    await member().engine.apply({ ...secret, data });
    table = await server.table();
    state = table.open();
    must(await state.createMembership({ spec: specOf("east"), createdBy: "test" }, never));
    must(await state.updateMembership(KEY, { phase: "joined" }, {}, never));
  });
  after(async () => await world.end());

  it("go over the wire, come back in every kind of answer, and are shown nowhere", async () => {
    lines.push(
      ...(await captureOutput(async () => {
        const { shard } = must(await state.readMembership("east", "antrea", never)) ?? { shard: "" };
        const metrics = createRoleMetrics(systemClock, { stage: "dev", role: "announce", shard });
        const facts = { role: "announce", shard, protocol: "antrea" };
        const log = createLog(createLogger());
        const telemetry = createBeatTelemetry({ clock: world.clock, log, metrics }, facts, 10_000);
        role = await startWorkingRole(world, [], {
          table: { ...state, readShardMemberships: () => state.readShardMemberships(shard, never) },
          telemetry,
        });
        await passUntil((now) => now?.status === "True");
        await beSpokenTo();
        await role.end();
        metrics.flush();
      })),
    );

    const used = (user: string, log: AntreaWorld["leaderCluster"]["requestLog"]): boolean =>
      log.entries((entry) => entry.user?.endsWith(user) === true && entry.status < 300).length > 0;
    assert.ok(used(":member-east", world.leaderCluster.requestLog), "the leader was sent the canary");
    assert.ok(used(":hawser", member().requestLog), "the member was sent its token");
    assert.ok(memberToken.length > 40);
    const items = await scan(table);
    const everything = [...items, ...lines, ...shown, JSON.stringify(role.rounds), JSON.stringify(role.bugs)].join(
      "\n",
    );
    for (const part of [...partsOf(LEADER_TOKEN), ...partsOf(memberToken)]) assert.ok(!everything.includes(part), part);
    assert.doesNotMatch(everything, /-----BEGIN|certificate-authority-data/);
    assert.ok(everything.includes("connectivity changed"), "the log was read");
    assert.ok(everything.includes("[redacted]"), "the table has what came back, without the credential");
  });

  /** Both clusters answer in all those ways. */
  async function beSpokenTo(): Promise<void> {
    const match = { verbs: ["patch"], resource: "memberclusterannounces" };
    for (const [, ...said] of echoes(LEADER_TOKEN)) {
      const fault = world.leaderCluster.faults.add({ match, action: answer(...said) });
      const now = await passUntil((condition) => condition?.status === "False");
      while (status().clusterStatuses?.[0]?.conditions[0]?.["message"] !== now?.message) await settleIo();
      messages.push(now?.message ?? "");
      shown.push(JSON.stringify(status()));
      fault.remove();
      await passUntil((condition) => condition?.status === "True");
    }
    for (const resource of ["clustersets", "secrets"]) {
      for (const [, ...said] of echoes(memberToken)) {
        const verbs = ["get", "list"];
        const fault = member().faults.add({ match: { resource, verbs }, action: answer(...said) });
        const seen = fault.hits;
        while (fault.hits === seen) await world.pass(1_000);
        await world.pass(2_000);
        fault.remove();
        shown.push(JSON.stringify(role.rounds.at(-1)));
      }
    }
  }

  it("nor does an answer of 50 kB make a message, an item or a line too long", async () => {
    for (const message of messages) {
      assert.ok(Buffer.byteLength(message) <= 4_096 && message.isWellFormed());
      assert.match(message, /^patch memberclusterannounces antrea-multicluster\/member-announce-from-east: \d{3}/);
    }
    assert.equal(messages.filter((message) => /\[cut by \d{5,6} bytes\]/.test(message)).length, 4);
    for (const item of await scan(table)) assert.ok(Buffer.byteLength(item) < 8_192, item.slice(0, 200));
    for (const line of lines) assert.ok(Buffer.byteLength(line) < 16_384);
  });
});

/** What betrays a token: its end, and pieces of its base64 in each of the three alignments. */
function partsOf(token: string): readonly string[] {
  const encoded = ["", "x", "xx"].map((before) =>
    Buffer.from(before + token)
      .toString("base64")
      .slice(8, 32),
  );
  return [token.slice(-16), token.slice(0, 16).startsWith("eyJ") ? token.slice(-24) : token.slice(0, 16), ...encoded];
}

async function scan({ url, tableName }: TestTable): Promise<readonly string[]> {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new DynamoDBClient({ region: "local", endpoint: url, credentials });
  try {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: tableName }));
    return Items.map((item) => JSON.stringify(item));
  } finally {
    client.destroy();
  }
}
