import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decideBrake } from "../../../lib/antrea/imports/brake.ts";

const names = (count: number, from = 0): ReadonlySet<string> =>
  new Set(Array.from({ length: count }, (_, i) => `import-${from + i}`));

describe("a complete list that lacks imports", () => {
  it("takes away fewer than ten, or no more than half, at once", () => {
    for (const [gone, known] of [
      [0, 0],
      [9, 9],
      [10, 20],
      [500, 1_000],
    ] as const) {
      const decision = decideBrake({ gone: names(gone), known }, undefined, 0);
      assert.ok(decision.kind === "go" && !decision.confirmed, `${gone} of ${known}`);
    }
  });

  it("takes away ten or more and over half only when another list says so a minute later, and then what both lack", () => {
    const first = decideBrake({ gone: names(12), known: 20 }, undefined, 1_000);
    assert.ok(first.kind === "hold");
    assert.equal(first.againMs, 60_000);
    const early = decideBrake({ gone: names(12), known: 20 }, first.held, 31_000);
    assert.ok(early.kind === "hold");
    assert.deepEqual([early.againMs, early.held], [30_000, first.held]);
    const second = decideBrake({ gone: names(12, 2), known: 20 }, first.held, 61_000);
    assert.ok(second.kind === "go" && second.confirmed);
    assert.deepEqual(second.gone, names(10, 2));
  });

  it("takes nothing back when they are there again", () => {
    const first = decideBrake({ gone: names(12), known: 12 }, undefined, 0);
    assert.ok(first.kind === "hold");
    const again = decideBrake({ gone: new Set(), known: 12 }, first.held, 60_000);
    assert.deepEqual(again, { kind: "go", gone: new Set(), confirmed: false });
  });
});
