// Reads what `npm start -- --for T --json` printed and checks its summary: all connected, enough beats, none missed.
import { readFileSync } from "node:fs";

const least = Number(process.argv[2] ?? 8);
const lines = readFileSync(0, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const summary = lines.at(-1);
const faults = [];
if (summary?.event !== "summary") faults.push(`the last line is not the summary but ${JSON.stringify(summary)}`);
const memberships = summary?.memberships ?? [];
if (memberships.length !== 2) faults.push(`${memberships.length} memberships instead of 2`);
for (const m of memberships) {
  if (m.connected !== true) faults.push(`${m.cluster} is not connected`);
  if (!(m.beats >= least)) faults.push(`${m.cluster} has ${m.beats} beats, at least ${least} are due`);
  if (m.missed !== 0) faults.push(`${m.cluster} missed ${m.missed} beats`);
  const ready = m.conditions?.find((c) => c.type === "Ready");
  if (ready?.status !== "True") faults.push(`${m.cluster} shows Ready ${ready?.status}`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
