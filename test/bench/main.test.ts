import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const MAIN = join(import.meta.dirname, "main.ts");

function bench(...args: readonly string[]): { readonly status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, [MAIN, ...args], { encoding: "utf8" });
}

test("help names the benches, and the options of one", () => {
  const all = bench("--help");
  const beat = bench("beat", "--help");

  assert.equal(all.status, 0);
  assert.match(all.stdout, /^ {2}beat /m);
  assert.equal(beat.status, 0);
  for (const option of ["--sizes", "--intervals", "--quick", "--seed", "--json", "--webhook"]) {
    assert.ok(beat.stdout.includes(option), option);
  }
});

test("an unknown bench, none at all and a wrong option are mistakes of the caller", () => {
  const mistakes = [["drift"], [], ["beat", "--fast"], ["beat", "--sizes", "1,two"], ["beat", "--intervals", "0"]];

  const [unknown, ...others] = mistakes.map((args) => bench(...args));

  assert.equal(unknown?.status, 2);
  assert.match(unknown?.stderr ?? "", /unknown command 'drift'/);
  assert.deepEqual(
    others.map(({ status, stdout }) => [status, stdout]),
    others.map(() => [2, ""]),
  );
});
