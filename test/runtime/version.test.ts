import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { VERSION } from "../../lib/runtime/version.ts";

test("the version that servers see is the package's", async () => {
  const manifest = await readFile(new URL("../../package.json", import.meta.url), "utf8");

  assert.equal(VERSION, (JSON.parse(manifest) as { version: string }).version);
});
