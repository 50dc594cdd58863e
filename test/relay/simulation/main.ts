import { parseArgs } from "node:util";
import { simulate } from "./run.ts";
import type { ScenarioKind } from "./scenario.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    kind: { type: "string" },
  },
});

// A stack for every aborted signal is most of the cost of a history.
Error.stackTraceLimit = 0;

const kinds: readonly ScenarioKind[] = ["planned", "skewed", "killed", "chaos"];
const kind = kinds.find((known) => known === values.kind);
const report = await simulate({
  seed: Number(values.seed),
  count: Number(values.count),
  ...(kind === undefined ? {} : { kind }),
});
console.log(`${report.histories} histories, ${report.handovers} takes, ${report.beats} beats`);
for (const { seed, kind, faults } of report.failures.slice(0, 20)) {
  console.log(`seed ${seed} (${kind}): again with --seed ${seed} --count 1`);
  for (const fault of faults.slice(0, 5)) console.log(`  ${fault}`);
}
console.log(`${report.failures.length} with faults`);
process.exitCode = report.failures.length === 0 ? 0 : 1;
