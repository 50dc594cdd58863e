import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { bundleFunctions } from "./packaging/bundle.ts";

const USAGE = `Usage: node infra/build.ts [--quiet] [--force]

Bundles every function of functions/ into dist/. Does nothing when no input has changed.

  --quiet   say nothing but errors
  --force   build even if nothing has changed
  --help    this text
`;

const { values } = parseArgs({
  options: { quiet: { type: "boolean" }, force: { type: "boolean" }, help: { type: "boolean" } },
});
if (values.help === true) {
  process.stdout.write(USAGE);
} else {
  // esbuild has printed what is wrong and where by the time it throws.
  const result = await bundleFunctions(resolve(import.meta.dirname, ".."), values.force === true).catch(onlyLogged);
  if (result === undefined) process.exitCode = 1;
  else if (values.quiet !== true) {
    for (const { name, bytes, gzipBytes } of result.bundles) {
      console.log(`dist/${name}.mjs  ${kilobytes(bytes)} (${kilobytes(gzipBytes)} gzipped)`);
    }
    if (result.unchanged) console.log("Nothing has changed since the last build.");
  }
}

function onlyLogged(error: unknown): undefined {
  if (error instanceof Error && "errors" in error) return undefined;
  throw error;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} kB`;
}
