import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { cutText, MESSAGE_BYTES } from "../../lib/base/limits.ts";

const bytes = (text: string): number => new TextEncoder().encode(text).length;

describe("a text that is cut", () => {
  it("stays as it is when it fits", () => {
    assert.equal(cutText("a".repeat(MESSAGE_BYTES)), "a".repeat(MESSAGE_BYTES));
  });

  it("keeps whole characters and says how much was cut", () => {
    const cut = cutText("€".repeat(20_000));

    const [, kept = "", amount = "0"] = /^(€+) \[cut by (\d+) bytes\]$/.exec(cut) ?? [];
    assert.ok(bytes(cut) <= MESSAGE_BYTES);
    assert.equal(bytes(kept) + Number(amount), 60_000);
  });

  it("fits and is valid UTF-8 whatever comes in", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), fc.integer({ min: 40, max: 300 }), (text, limit) => {
        const cut = cutText(text, limit);

        assert.ok(bytes(cut) <= limit);
        assert.ok(cut.isWellFormed());
        if (bytes(text) <= limit && text.isWellFormed()) assert.equal(cut, text);
      }),
    );
  });

  it("replaces a lone surrogate", () => {
    assert.equal(cutText("a\ud800b"), "a\ufffdb");
  });
});
