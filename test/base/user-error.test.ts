import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { describeUserErrors } from "../../lib/base/user-error.ts";

describe("a user's mistakes", () => {
  it("are a line each, with field, problem and remedy", () => {
    const text = describeUserErrors([
      { path: "cluster", problem: "is empty", remedy: "Name the cluster." },
      { path: "access.kubeconfig", problem: "is missing", remedy: "Name a kubeconfig." },
    ]);

    assert.deepEqual(text.split("\n"), [
      "cluster: is empty. Name the cluster.",
      "access.kubeconfig: is missing. Name a kubeconfig.",
    ]);
  });
});
