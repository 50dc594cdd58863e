import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type KeptLeader,
  keptLeaderConnection,
  keptLeaderHash,
  keptLeaderReference,
  parseKeptLeader,
  serialiseKeptLeader,
} from "../../lib/antrea/kept-leader.ts";

const KEPT: KeptLeader = {
  server: "https://north:6443",
  ca: "-----BEGIN CERTIFICATE-----",
  token: "canary-token",
  commonArea: "antrea-multicluster",
  clusterID: "east",
  leaderClusterID: "north",
  clusterSetID: "test-clusterset",
};

test("what is kept of a leader is read as it was written, and leads to the leader", () => {
  const read = parseKeptLeader(serialiseKeptLeader(KEPT));

  assert.ok(read.ok);
  assert.deepEqual(read.value, KEPT);
  const connection = keptLeaderConnection(read.value);
  assert.ok(connection.ok);
  assert.deepEqual(
    [connection.value.server.href, connection.value.ca, connection.value.credential],
    [KEPT.server, KEPT.ca, { kind: "token", token: KEPT.token }],
  );
});

test("each field of the kept leader, and the key, changes its hash; the order of fields does not", () => {
  const hash = keptLeaderHash("uid-1", KEPT);
  const others = Object.keys(KEPT).map((field) => keptLeaderHash("uid-1", { ...KEPT, [field]: "other" }));

  assert.equal(new Set([hash, keptLeaderHash("uid-2", KEPT), ...others]).size, others.length + 2);
  const reversed = Object.fromEntries(Object.entries(KEPT).toReversed()) as unknown as KeptLeader;
  assert.equal(keptLeaderHash("uid-1", reversed), hash);
});

test("damaged or foreign text is no kept leader, and is not repeated", () => {
  for (const text of [
    "",
    "canary-token",
    "[]",
    "null",
    JSON.stringify({ ...KEPT, token: "" }),
    '{"token":"canary-token"}',
  ]) {
    const read = parseKeptLeader(text);

    assert.ok(!read.ok, text);
    assert.doesNotMatch(JSON.stringify(read.error), /canary/);
  }
});

test("each cluster's leader is kept under a name of its own, below the one path that functions may write to", () => {
  assert.equal(keptLeaderReference("/hawser/prod/", "east"), "/hawser/prod/leaders/east");
});
