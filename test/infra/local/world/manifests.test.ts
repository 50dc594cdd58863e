import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import { BeatLedger } from "../../../../infra/local/world/beats.ts";
import { ManifestError, readManifests } from "../../../../infra/local/world/manifests.ts";
import { startSimulated } from "../../../../infra/local/world/simulated.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

const root = mkdtempSync(join(tmpdir(), "hawser-manifests-"));
after(() => rmSync(root, { recursive: true, force: true }));

function folder(files: Readonly<Record<string, string>>): string {
  const made = mkdtempSync(join(root, "f-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(made, name)), { recursive: true });
    writeFileSync(join(made, name), text);
  }
  return made;
}

const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "more", namespace: "default" } };

function clusterSet(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    apiVersion: "multicluster.crd.antrea.io/v1alpha2",
    kind: "ClusterSet",
    metadata: { name: "set" },
    spec: { clusterID: "east", namespace: "common", leaders: [{ clusterID: "north", secret: "token" }], ...change },
  };
}

function refused(files: Readonly<Record<string, string>>): string {
  try {
    readManifests(folder(files));
  } catch (error) {
    assert.ok(error instanceof ManifestError, String(error));
    return error.message.replaceAll(root, "");
  }
  return assert.fail("the folder was taken");
}

describe("a folder of manifests", () => {
  it("shipped with Hawser holds a leader and two members", () => {
    const shipped = fileURLToPath(new URL("../../../../infra/local/manifests", import.meta.url));
    const { leader, members } = readManifests(shipped);

    assert.deepEqual(
      leader.map((object) => object.kind),
      ["Namespace", "ClusterSet", "ResourceExport", "ResourceExport"],
    );
    assert.deepEqual(
      members.map((m) => [m.cluster, m.clusterSet.clusterId, m.clusterSet.leaderId, m.clusterSet.namespace]),
      [
        ["east", "east", "north", "kube-system"],
        ["west", "west", "north", "kube-system"],
      ],
    );
  });

  it("has a member in each file or sub-folder, as YAML, JSON or a List, and no other files", () => {
    const list = { apiVersion: "v1", kind: "List", items: [configMap, clusterSet({ clusterID: "south" })] };
    const { leader, members } = readManifests(
      folder({
        "one.yaml": `---\n${stringify(clusterSet())}---\n`,
        "two.json": JSON.stringify(list),
        "three/set/set.yml": stringify(clusterSet({ clusterID: "mid" })),
        "three/more.yaml": stringify(configMap),
        "common.yaml": stringify(configMap),
        "README.md": "not a manifest",
      }),
    );

    assert.deepEqual(
      members.map((m) => [m.cluster, m.clusterSet.clusterId, m.objects.length]),
      [
        ["one", "east", 1],
        ["three", "mid", 2],
        ["two", "south", 2],
      ],
    );
    assert.deepEqual(leader, [configMap]);
  });

  it("is refused with file and field where it does not describe a world", () => {
    assert.match(refused({}), /holds no member\. A member is a ClusterSet with spec\.namespace/);
    assert.match(refused({ "a.yaml": "x: [" }), /\/a\.yaml: is not YAML: /);
    assert.match(refused({ "a.yaml": "hello" }), /\/a\.yaml: holds something that is no Kubernetes object/);
    assert.match(refused({ "a.yaml": "apiVersion: v1\nkind: List\nitems: [null]\n" }), /no Kubernetes object/);
    const two = [clusterSet(), clusterSet()].map((object) => stringify(object)).join("---\n");
    assert.match(refused({ "a.yaml": two }), /\/a\.yaml: holds two members' ClusterSets/);
    assert.match(refused({ "East 1.yaml": stringify(clusterSet()) }), /"East 1" cannot be the name of this member/);
    const twice = { "a.yaml": stringify(clusterSet()), "a/set.yaml": stringify(clusterSet()) };
    assert.match(refused(twice), /"a" cannot be the name of this member: .* another one has it/);
    for (const [change, field] of [
      [{ clusterID: "" }, "spec.clusterID"],
      [{ namespace: undefined }, "spec.namespace"],
      [{ leaders: [{ clusterID: "north" }] }, "spec.leaders[0].secret"],
      [{ leaders: [{ secret: "token" }] }, "spec.leaders[0].clusterID"],
    ] as const) {
      assert.ok(refused({ "a.yaml": stringify(clusterSet(change)) }).includes(`the ClusterSet has no ${field}`), field);
    }
  });

  it("is refused where a name in a ClusterSet is no text, or no name in Kubernetes", () => {
    for (const [change, words] of [
      [{ clusterID: 123 }, "has a spec.clusterID that is no text. Put quotes around the value"],
      [{ clusterID: "EAST" }, 'has the spec.clusterID "EAST", which is no name in Kubernetes'],
      [{ namespace: "a_b" }, 'has the spec.namespace "a_b", which is no name in Kubernetes'],
      [{ leaders: [{ clusterID: "no rth", secret: "token" }] }, 'has the spec.leaders[0].clusterID "no rth"'],
      [{ leaders: [{ clusterID: "north", secret: true }] }, "has a spec.leaders[0].secret that is no text"],
    ] as const) {
      const text = refused({ "a.yaml": stringify(clusterSet(change)) });
      assert.ok(text.includes(`/a.yaml: the ClusterSet ${words}`), text);
    }
  });

  it("is refused where two members have the same ID", () => {
    const twins = { "a.yaml": stringify(clusterSet()), "b.yaml": stringify(clusterSet()) };
    assert.match(refused(twins), /^b: the ClusterSet has the spec\.clusterID "east" of member a\. Give each member/);
  });

  it("is refused with cluster and object where an API server would not take it", async () => {
    const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "x" } };
    const manifests = readManifests(
      folder({ "one.yaml": [clusterSet(), widget].map((o) => stringify(o)).join("---\n") }),
    );

    const starting = startSimulated({
      manifests,
      clock: new FakeClock(new Date()),
      random: seededRandom(1),
      ledger: new BeatLedger(() => undefined),
      progress: () => undefined,
    });

    await assert.rejects(starting, (error: unknown) => {
      assert.ok(error instanceof ManifestError);
      assert.match(error.message, /^one: the manifests cannot be applied: example\.com\/v1 Widget is not served/);
      return true;
    });
  });
});
