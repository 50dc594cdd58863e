import type { Spread } from "./statistics.ts";

/** A Markdown table, its columns aligned for people who read it as text. The first column is left-aligned. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(3, title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${widths.map((width, i) => (i === 0 ? (cells[i] ?? "").padEnd(width) : (cells[i] ?? "").padStart(width))).join(" | ")} |`;
  const rule = `| ${widths.map((width, i) => (i === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")} |`;
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** Three significant digits, and no more decimals than that takes. */
export function showNumber(value: number | undefined): string {
  if (value === undefined) return "-";
  if (Number.isInteger(value) || Math.abs(value) >= 100) return String(Math.round(value));
  return String(Number(value.toPrecision(3)));
}

/** The middle, and in brackets how far the intervals lie apart. */
export function showSpread({ median, min, max }: Spread): string {
  const [middle, least, most] = [showNumber(median), showNumber(min), showNumber(max)];
  return least === most ? middle : `${middle} (${least} to ${most})`;
}
