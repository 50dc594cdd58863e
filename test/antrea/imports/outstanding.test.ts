import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { Outstanding } from "../../../lib/antrea/imports/outstanding.ts";

describe("the version that a watch resumes from", () => {
  it("is the last one that has arrived when every import is stored", () => {
    const outstanding = new Outstanding("5");
    assert.equal(outstanding.resumable(), "5");
    outstanding.arrived("7", ["a"]);
    outstanding.arrived("9", []);
    assert.equal(outstanding.resumable(), "5");
    outstanding.stored("a");
    assert.equal(outstanding.resumable(), "9");
  });

  it("stays before the oldest event of an import that comes again and again", () => {
    const outstanding = new Outstanding();
    outstanding.arrived("1", ["a"]);
    outstanding.arrived("2", ["b"]);
    outstanding.arrived("3", ["a"]);
    outstanding.stored("b");
    assert.equal(outstanding.resumable(), undefined);
    outstanding.stored("a");
    assert.equal(outstanding.resumable(), "3");
  });

  it("never passes an import that is not stored, and never falls, whatever the order", () => {
    const step = fc.oneof(
      fc.record({
        kind: fc.constant("arrived" as const),
        names: fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 2 }),
      }),
      fc.record({ kind: fc.constant("stored" as const), name: fc.constantFrom("a", "b", "c") }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const outstanding = new Outstanding("0");
        const open = new Map<string, number>();
        let version = 0;
        let before = 0;
        for (const taken of steps) {
          if (taken.kind === "arrived") {
            version += 1;
            for (const name of taken.names) if (!open.has(name)) open.set(name, version);
            outstanding.arrived(String(version), taken.names);
          } else {
            open.delete(taken.name);
            outstanding.stored(taken.name);
          }
          const now = Number(outstanding.resumable());
          assert.equal(now, Math.min(version, ...[...open.values()].map((at) => at - 1)));
          assert.ok(now >= before);
          before = now;
        }
      }),
    );
  });
});
