import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Metafile } from "esbuild";
import { bundleFunctions } from "../../infra/packaging/bundle.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const { bundles } = await bundleFunctions(ROOT);
const metafile = JSON.parse(await readFile(join(ROOT, "dist/meta.json"), "utf8")) as Metafile;

/** Largest size of each bundle, gzipped, in bytes: what keeps the cold start short. */
const LIMITS: Readonly<Record<string, { readonly bytes: number; readonly gzipBytes: number }>> = {
  announce: { bytes: 1_200_000, gzipBytes: 450_000 },
  bootstrap: { bytes: 1_500_000, gzipBytes: 450_000 },
  leave: { bytes: 1_500_000, gzipBytes: 450_000 },
  sweep: { bytes: 1_500_000, gzipBytes: 450_000 },
  watch: { bytes: 1_200_000, gzipBytes: 450_000 },
};

/** What a bundle says of itself in a process of its own, without an environment: import time, handler, first answer. */
interface Trial {
  readonly importMs: number;
  readonly parameters: number;
  readonly error: string;
  readonly log: readonly Record<string, unknown>[];
}

const PROBE = `
  const started = performance.now();
  const { handler } = await import(process.argv[1]);
  const importMs = performance.now() - started;
  const context = { awsRequestId: "request-1", functionName: "probe", getRemainingTimeInMillis: () => 60000 };
  const error = await handler({ role: "announce", shard: "default-1", cluster: "east" }, context).then(String, String);
  process.stderr.write("\\n" + JSON.stringify({ importMs, parameters: handler.length, error }) + "\\n");
`;

async function probe(name: string): Promise<Trial> {
  const bundle = pathToFileURL(join(ROOT, "dist", `${name}.mjs`)).href;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", PROBE, bundle], {
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const lines = `${out}\n${err}`.split("\n").filter((line) => line.startsWith("{"));
  const objects = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const own = objects.find((object) => "importMs" in object);
  assert.ok(own !== undefined, err);
  return { ...(own as Omit<Trial, "log">), log: objects.filter((object) => object !== own) };
}

describe("the bundles", () => {
  test("are one for each function", async () => {
    const functions = (await readdir(join(ROOT, "functions"))).map((name) => name.replace(/\.ts$/, ""));

    assert.deepEqual(bundles.map(({ name }) => name).toSorted(), functions.toSorted());
  });

  for (const { name, bytes, gzipBytes } of bundles) {
    test(`${name} is small enough`, (t) => {
      t.diagnostic(`${name}: ${bytes} bytes, ${gzipBytes} gzipped`);
      const limit = LIMITS[name];

      assert.ok(limit !== undefined, `${name} has no limit yet`);
      assert.ok(bytes <= limit.bytes, `${name} has ${bytes} bytes`);
      assert.ok(gzipBytes <= limit.gzipBytes, `${name} has ${gzipBytes} bytes gzipped`);
    });

    test(`${name} loads by itself, and its exported handler is the wrapped one`, async (t) => {
      const { importMs, parameters, error, log } = await probe(name);
      t.diagnostic(`${name}: imported in ${importMs.toFixed(0)} ms`);

      assert.ok(parameters <= 2);
      // Without an environment it can do nothing, and says so; the line with the invocation's id is the stack's work.
      assert.match(error, /HAWSER_TABLE: is not set/);
      assert.deepEqual(
        log.map((line) => [line["message"], line["function"], line["function_request_id"]]),
        [["invocation failed", name, "request-1"]],
      );
    });
  }

  test("come with a source map beside each", async () => {
    for (const { name } of bundles) assert.ok((await stat(join(ROOT, "dist", `${name}.mjs.map`))).size > 0);
  });

  test("reach the libraries that the functions are made with", () => {
    const reached = (name: string): ReadonlySet<string> => {
      const packages = Object.entries(metafile.outputs[`dist/${name}.mjs`]?.inputs ?? {})
        .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
        .map(([path]) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
      return new Set(packages.filter((found) => found !== undefined));
    };
    const common = ["@kubernetes/client-node", "@aws-sdk/client-dynamodb", "@middy/core", "undici"];

    for (const { name } of bundles) {
      for (const library of common) assert.ok(reached(name).has(library), `${name} does not reach ${library}`);
    }
    for (const name of ["bootstrap", "leave", "sweep"]) {
      assert.ok(reached(name).has("@aws-sdk/client-scheduler"), name);
    }
  });

  test("hold nothing of tests, of the local world or of the command line", () => {
    const inputs = Object.keys(metafile.inputs);

    assert.deepEqual(
      inputs.filter((path) => /^(test|infra)\//.test(path)),
      [],
    );
  });

  test("are not built again when nothing has changed", async () => {
    assert.equal((await bundleFunctions(ROOT)).unchanged, true);
  });
});
