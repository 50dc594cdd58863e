import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after, before, test } from "node:test";

const ROOT = resolve(import.meta.dirname, "../..");

/** Each file breaks one rule, or none; the linter must find exactly these. */
const VIOLATIONS: Readonly<Record<string, { readonly code: string; readonly rule?: string }>> = {
  "lib/relay/knows-kubernetes.ts": { code: importing("../kube/client.ts"), rule: "no-restricted-imports" },
  "lib/state/deep/knows-relay.ts": { code: importing("../../relay/window.ts"), rule: "no-restricted-imports" },
  "lib/kube/knows-antrea.ts": { code: importing("../antrea/announce.ts"), rule: "no-restricted-imports" },
  "lib/antrea/knows-ocm.ts": { code: importing("../ocm/lease.ts"), rule: "no-restricted-imports" },
  "lib/ocm/knows-runtime.ts": { code: importing("../runtime/config.ts"), rule: "no-restricted-imports" },
  "lib/doctor/member/knows-antrea.ts": {
    code: importing("../../antrea/announce.ts"),
    rule: "no-restricted-imports",
  },
  "lib/doctor/knows-status.ts": { code: importing("../status/fleet.ts"), rule: "no-restricted-imports" },
  "lib/antrea/knows-doctor.ts": { code: importing("../doctor/doctor.ts"), rule: "no-restricted-imports" },
  "lib/base/knows-state.ts": { code: importing("../state/keys.ts"), rule: "no-restricted-imports" },
  "lib/runtime/knows-infra.ts": { code: importing("../../infra/local/world.ts"), rule: "no-restricted-imports" },
  "lib/schedule/knows-test.ts": { code: importing("../../test/support/fake-clock.ts"), rule: "no-restricted-imports" },
  "functions/knows-antrea.ts": { code: importing("../lib/antrea/announce.ts"), rule: "no-restricted-imports" },
  "infra/local/knows-state.ts": { code: importing("../../lib/state/keys.ts"), rule: "no-restricted-imports" },
  "lib/relay/timer-module.ts": { code: importing("node:timers/promises"), rule: "no-restricted-imports" },
  "lib/relay/timer.ts": { code: "setTimeout(() => undefined, 1);", rule: "no-restricted-globals" },
  "lib/relay/date-now.ts": { code: "export const at = Date.now();", rule: "no-restricted-properties" },
  "lib/relay/new-date.ts": { code: "export const at = new Date();", rule: "hawser(no-current-date)" },
  "functions/chance.ts": { code: "export const n = Math.random();", rule: "no-restricted-properties" },
  // What must stay allowed: downwards, and converting a time that was given.
  "lib/antrea/fine.ts": { code: `${importing("../kube/client.ts")}export const at = new Date(0);` },
  "lib/runtime/fine.ts": { code: importing("../antrea/announce.ts") },
  "lib/base/fine.ts": { code: "export const at = new Date();\nexport const n = Math.random();" },
  "functions/fine.ts": { code: importing("../lib/runtime/handler.ts") },
  "infra/local/fine.ts": { code: importing("../../lib/base/clock.ts") },
};

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hawser-lint-"));
  await cp(join(ROOT, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  await cp(join(ROOT, "infra/lint"), join(folder, "infra/lint"), { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [path, { code }] of Object.entries(VIOLATIONS)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${code}\n`);
  }
});

after(async () => {
  await rm(folder, { recursive: true, force: true });
});

test("the linter refuses imports against the arrows, and time and chance that were not passed in", async () => {
  const found = await lint();

  for (const [path, { rule }] of Object.entries(VIOLATIONS)) {
    const rules = found.filter((one) => one.filename === path && RULES.test(one.code)).map((one) => one.code);
    if (rule === undefined) assert.deepEqual(rules, [], `${path} is allowed`);
    else
      assert.ok(
        rules.length === 1 && rules[0]?.includes(rule),
        `${path} must break ${rule}: ${rules.join() || "nothing"}`,
      );
  }
});

/** The rules that this test is about; made-up files may break others. */
const RULES = /no-restricted|no-current-date/;

interface Finding {
  readonly code: string;
  readonly filename: string;
}

/** The linter answers with status 1 when it finds something: that is what is wanted here. */
async function lint(): Promise<readonly Finding[]> {
  const linter = join(ROOT, "node_modules/oxlint/bin/oxlint");
  const output = await new Promise<string>((done) => {
    execFile(process.execPath, [linter, "--format", "json"], { cwd: folder }, (_error, stdout) => done(stdout));
  });
  return (JSON.parse(output) as { readonly diagnostics: readonly Finding[] }).diagnostics;
}

function importing(path: string): string {
  return `import { thing } from "${path}";\nexport { thing };\n`;
}
