// Runs the tests: all of them, or those below the folders and files that are named (`npm test -- test/relay`).
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { availableParallelism } from "node:os";

const named = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const options = process.argv.slice(2).filter((argument) => argument.startsWith("-"));
const patterns = (named.length === 0 ? ["test"] : named).map((place) =>
  statSync(place, { throwIfNoEntry: false })?.isDirectory() === true
    ? `${place.replace(/\/$/, "")}/**/*.test.ts`
    : place,
);
const { status } = spawnSync(
  process.execPath,
  [
    "--test",
    `--test-concurrency=${Math.max(4, availableParallelism())}`,
    "--test-timeout=120000",
    ...options,
    ...patterns,
  ],
  { stdio: "inherit" },
);
process.exit(status ?? 1);
