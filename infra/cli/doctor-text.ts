import { styleText } from "node:util";
import type { DoctorReport } from "../../lib/doctor/doctor.ts";
import type { CheckReport } from "../../lib/doctor/examination.ts";

/** A report for people: one line for each check, and below a failed one what was tried, what came back, what to do. */
export function doctorText(report: DoctorReport, where: string): string {
  const { cluster, checks, ms } = report;
  const head = `${cluster} in ${where}, asked from this machine:`;
  const failures = checks.filter(({ outcome }) => outcome === "failed").length;
  const open = checks.filter(({ outcome }) => outcome === "notAsked").length;
  const tail = failures === 0 ? "nothing failed" : `${failures} failed`;
  const unasked = open === 0 ? "" : `, ${open} not asked`;
  return [
    head,
    ...checks.flatMap(lines),
    `${checks.length} checks in ${(ms / 1_000).toFixed(1)} s: ${tail}${unasked}`,
  ].join("\n");
}

function lines(check: CheckReport): string[] {
  const name = `${check.side} ${check.check}`.padEnd(22);
  switch (check.outcome) {
    case "passed":
      return [`  ${styleText("green", "ok")}        ${name} ${check.came}`];
    case "notAsked":
      return [`  ${styleText("yellow", "not asked")} ${name} ${check.because}`];
    case "failed":
      return [
        `  ${styleText("red", "FAILED")}    ${name} ${check.cause}`,
        `            tried: ${check.tried}`,
        `            came back: ${check.came}`,
        `            do: ${check.remedy}`,
      ];
  }
}
