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
  const result = await bundleFunctions(resolve(import.meta.dirname, ".."), values.force === true);
  if (values.quiet !== true) {
    for (const { name, bytes, gzipBytes } of result.bundles) {
      console.log(`dist/${name}.mjs  ${kilobytes(bytes)} (${kilobytes(gzipBytes)} gzipped)`);
    }
    if (result.unchanged) console.log("Nothing has changed since the last build.");
  }
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(0)} kB`;
}
