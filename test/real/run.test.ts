import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { alive } from "../support/processes.ts";
import { until } from "../support/until.ts";

const RUN = fileURLToPath(new URL("run.ts", import.meta.url));

/** What a test that hangs tells of itself. */
interface Hanging {
  readonly pid: number;
  readonly clusters: string;
}

describe("the runner of tests on real API servers", { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "hawser-runner-"));
  after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, "north.yaml");
  writeFileSync(kubeconfig, "kind: Config");
  const write = (name: string, body: string): string => {
    const file = join(folder, `${name}.mjs`);
    writeFileSync(file, `import { test } from "node:test";\nimport { writeFileSync } from "node:fs";\n${body}`);
    return file;
  };
  /** Starts it on a cluster that nobody asks, with a folder of its own for what is temporary. */
  const start = (name: string, body: string): { readonly child: ChildProcess; readonly temporary: string } => {
    const temporary = join(folder, name);
    mkdirSync(temporary);
    // A runner below a runner would take itself for one of its files.
    const { NODE_TEST_CONTEXT: _context, ...environment } = process.env;
    const child = spawn(process.execPath, [RUN, "--kubeconfig", kubeconfig, write(name, body)], {
      env: { ...environment, TMPDIR: temporary },
      stdio: "ignore",
    });
    return { child, temporary };
  };
  const exitOf = async (name: string, body: string): Promise<unknown> => {
    const { child, temporary } = start(name, body);
    const [code] = (await once(child, "exit")) as [number | null];
    assert.deepEqual(readdirSync(temporary), []);
    return code;
  };

  it("passes when all tests ran and passed, and keeps no kubeconfig", async () => {
    const codes = [
      await exitOf("passes", 'test("a", () => {});'),
      await exitOf("fails", 'test("a", () => { throw new Error("no"); });'),
      await exitOf("skips", 'test("a", { skip: true }, () => {});'),
    ];

    assert.deepEqual(codes, [0, 1, 1]);
  });

  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    it(`leaves neither tests nor kubeconfigs when it ends by ${signal}`, async () => {
      const report = join(folder, `${signal}.json`);
      const body = `test("hangs", async () => {
        const clusters = process.env.HAWSER_TEST_CLUSTERS;
        writeFileSync(${JSON.stringify(report)}, JSON.stringify({ pid: process.pid, clusters }));
        await new Promise(() => setInterval(() => {}, 1_000));
      });`;
      const { child, temporary } = start(signal, body);
      const read = (): Hanging | undefined => {
        try {
          return JSON.parse(readFileSync(report, "utf8")) as Hanging;
        } catch {
          // Not written yet, or not to its end.
          return undefined;
        }
      };
      await until(() => read() !== undefined);
      const hanging = read();
      assert.ok(hanging !== undefined && existsSync(hanging.clusters));

      child.kill(signal);

      await once(child, "exit");
      await until(() => alive([hanging.pid]).length === 0 && readdirSync(temporary).length === 0);
    });
  }
});
