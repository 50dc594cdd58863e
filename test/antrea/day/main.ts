import { parseArgs } from "node:util";
import { simulateDay } from "./day.ts";

const { values } = parseArgs({
  options: { hours: { type: "string", default: "24" }, seed: { type: "string", default: "1" } },
});

// A stack for every aborted signal is most of the cost.
Error.stackTraceLimit = 0;

const hours = Number(values.hours);
const seed = Number(values.seed);
const report = await simulateDay({ hours, seed, lost: 0.01, members: ["east", "north-1", "south", "west"] });
const { beats, handovers, deployments, missed, disconnects, longestGapMs, events, bugs } = report;
console.log(`${hours} hours: ${beats} beats, ${handovers} handovers, ${deployments} deployments, 1% of requests lost`);
console.log(`${missed.length} missed beats, ${disconnects.length} false disconnects, longest gap ${longestGapMs} ms`);
console.log(`history: ${JSON.stringify(events)}`);
for (const what of [...missed, ...disconnects, ...bugs].slice(0, 20)) console.log(what);
process.exitCode = missed.length + disconnects.length + bugs.length === 0 ? 0 : 1;
