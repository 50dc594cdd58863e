import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, it } from "node:test";

const GUARD = join(import.meta.dirname, "../../../infra/local/check-node.mjs");

function runAs(version: string) {
  const pretend = `Object.defineProperty(process.versions, "node", { value: "${version}" })`;
  return spawnSync(process.execPath, ["--import", `data:text/javascript,${encodeURIComponent(pretend)}`, GUARD], {
    encoding: "utf8",
  });
}

describe("the guard against an old Node", () => {
  it("ends with a remedy for each way of missing the right one", () => {
    const { status, stderr } = runAs("20.20.2");

    assert.equal(status, 1);
    for (const word of ["Node 24", "--ignore-scripts", "--omit=optional", "musl"])
      assert.ok(stderr.includes(word), word);
  });

  it("says nothing when all is well", () => {
    const { status, stderr, stdout } = runAs("24.0.0");

    assert.deepEqual([status, stderr, stdout], [0, "", ""]);
  });
});
