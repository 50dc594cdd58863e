// What takes longer than `npm test` may: more histories of the relay, and whole simulated days.
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    /** Histories of the relay. */
    count: { type: "string", default: "20000" },
    /** Seed of the first one. */
    seed: { type: "string", default: "1" },
    /** Simulated hours of announces. */
    hours: { type: "string", default: "24" },
  },
});

const parts = [
  ["test/relay/simulation/main.ts", "--count", values.count, "--seed", values.seed],
  ["test/antrea/day/main.ts", "--hours", values.hours, "--seed", values.seed],
];
const failed = parts.filter((part) => spawnSync(process.execPath, part, { stdio: "inherit" }).status !== 0);
process.exitCode = failed.length === 0 ? 0 : 1;
