import assert from "node:assert/strict";
import type { DoctorReport } from "../../../lib/doctor/doctor.ts";
import type { DoctorWorld } from "./doctor-world.ts";
import type { Fault } from "./faults.ts";

/** Longest time for all checks, in milliseconds. */
const LIMIT_MS = 10_000;

/** Plants a fault, and holds what a doctor says against what it must say. */
export async function mustTell(world: DoctorWorld, { plant, fails, notAsked }: Fault): Promise<void> {
  const undo = await plant(world);

  let report: DoctorReport;
  try {
    report = await world.examine();
  } finally {
    await undo();
  }

  assert.ok(report.ms < LIMIT_MS, `${report.ms} ms`);
  assert.equal(report.healthy, false);
  const failed = report.checks.filter((check) => check.outcome === "failed");
  assert.deepEqual(named(failed), fails.map(({ check }) => check).toSorted(), JSON.stringify(failed, null, 2));
  for (const { check, cause, came, remedy } of fails) {
    const found = failed.find((one) => `${one.side} ${one.check}` === check);
    assert.equal(found?.cause, cause);
    assert.match(found?.came ?? "", came);
    assert.match(found?.remedy ?? "", remedy);
    assert.notEqual(found?.tried, "");
  }
  assert.deepEqual(named(report.checks.filter(({ outcome }) => outcome === "notAsked")), notAsked.toSorted());
  for (const secret of world.secrets) assert.ok(!JSON.stringify(report).includes(secret));
}

function named(checks: readonly { readonly side: string; readonly check: string }[]): readonly string[] {
  return checks.map(({ side, check }) => `${side} ${check}`).toSorted();
}
