import type { BeatOptions } from "../beat.ts";
import type { Machine } from "../machine.ts";
import { markdownTable, showNumber, showSpread } from "../markdown.ts";
import { ratioOf, type Spread } from "../statistics.ts";
import { type Figures, LATE_MS } from "./figures.ts";

/** Memory of the function `announce` (serverless.yml), the heap limit of every driver. */
export const FUNCTION_MEMORY_MB = 512;

/** Both drivers at one size. */
export interface SizeFigures {
  readonly memberships: number;
  readonly hawser: Figures;
  readonly baseline: Figures;
}

/** What `--json` prints. Ratios are Hawser's median by the baseline's. */
export interface BeatReport {
  readonly bench: "beat";
  readonly intervalMs: number;
  readonly options: BeatOptions;
  readonly before: Machine;
  readonly after: Machine;
  readonly sizes: readonly (SizeFigures & { readonly ratios: Readonly<Record<string, number>> })[];
}

/** A row: its title, and the figure that stands in it. */
type Row = readonly [title: string, of: (figures: Figures) => number | Spread | undefined, key?: string];

/** Rows with a key are compared. */
const ROWS: readonly Row[] = [
  ["beats due", (f) => f.due],
  ["beats done", (f) => f.done],
  [`of these late by > ${LATE_MS} ms`, (f) => f.late],
  ["lateness p50, ms", (f) => f.latenessP50Ms, "latenessP50Ms"],
  ["lateness p99, ms", (f) => f.latenessP99Ms, "latenessP99Ms"],
  ["lateness max, ms", (f) => f.latenessMaxMs, "latenessMaxMs"],
  ["requests per beat", (f) => f.requestsPerBeat, "requestsPerBeat"],
  ["requests refused", (f) => f.refused],
  ["bytes out per beat", (f) => f.bytesOutPerBeat, "bytesOutPerBeat"],
  ["bytes in per beat", (f) => f.bytesInPerBeat, "bytesInPerBeat"],
  ["CPU ms per beat", (f) => f.cpuMsPerBeat, "cpuMsPerBeat"],
  ["% of one core", (f) => f.corePercent, "corePercent"],
  ["RSS of the process, MB", (f) => f.rssMB, "rssMB"],
  ["RSS per membership, kB", (f) => f.rssKBPerMembership, "rssKBPerMembership"],
  ["heap per membership, kB", (f) => f.heapKBPerMembership, "heapKBPerMembership"],
  ["connections opened", (f) => f.connectionsOpened, "connectionsOpened"],
  ["connections used while measured", (f) => f.connectionsUsed, "connectionsUsed"],
];

/** Adds the ratios. */
export function beatReport(of: {
  readonly options: BeatOptions;
  readonly before: Machine;
  readonly after: Machine;
  readonly sizes: readonly SizeFigures[];
}): BeatReport {
  const sizes = of.sizes.map((size) => ({ ...size, ratios: ratiosOf(size) }));
  return { bench: "beat", intervalMs: 10_000, ...of, sizes };
}

function ratiosOf({ hawser, baseline }: SizeFigures): Record<string, number> {
  const ratios: Record<string, number> = {};
  for (const [, of, key] of ROWS) {
    const ratio = key === undefined ? undefined : ratioOf(middle(of(hawser)), middle(of(baseline)));
    if (key !== undefined && ratio !== undefined) ratios[key] = ratio;
  }
  return ratios;
}

/** The report for people. */
export function renderBeat(report: BeatReport): string {
  const { options, before, after } = report;
  const tables = report.sizes.map(
    (size) => `## ${size.memberships === 1 ? "1 membership" : `${size.memberships} memberships`}\n\n${sizeTable(size)}`,
  );
  const head = [
    "# bench beat",
    "",
    `Announces every ${report.intervalMs / 1000} s; Hawser beside a driver that does what the in-cluster agents do.`,
    "",
    `- machine: ${before.cores} cores, ${before.model}, ${before.platform}, ${before.memoryGB} GB (${before.freeMemoryGB} GB free)`,
    `- load average: ${before.loadAverage.join(" ")} before, ${after.loadAverage.join(" ")} after`,
    `- versions: node ${before.node}, hawser ${before.hawser}`,
    `- measured: ${options.intervals} interval${options.intervals === 1 ? "" : "s"} after the warm-up, median (least to most); seed ${options.seed}`,
    ...setting(options),
  ].join("\n");
  return [head, ...tables, notes(report)].join("\n\n");
}

function setting({ quick, webhook, members }: BeatOptions): readonly string[] {
  return [
    `- leader: its validating webhook and controllers are ${webhook ? "on" : "off (--webhook turns them on)"}`,
    members === "memory"
      ? "- members: in memory, so that Hawser's figures are those of the beats alone (--members https for API servers)"
      : "- members: API servers over HTTPS that Hawser looks at every 29 to 45 s, included in its figures; the baseline has none",
    ...(quick ? ["- quick: all drivers and leaders ran side by side, which makes all of them slower"] : []),
  ];
}

function sizeTable({ hawser, baseline, ratios }: BeatReport["sizes"][number]): string {
  const rows = ROWS.map(([title, of, key]) => {
    const ratio = key === undefined ? undefined : ratios[key];
    return [title, show(of(hawser)), show(of(baseline)), ratio === undefined ? "" : showNumber(ratio)];
  });
  return markdownTable(["", "Hawser", "baseline", "Hawser / baseline"], rows);
}

function notes({ sizes }: BeatReport): string {
  const token = sizes[0]?.baseline.authorizationBytes;
  const http2 = sizes.every(({ hawser, baseline }) => hawser.http2 && baseline.http2);
  return [
    "Lateness: from the grid point to the leader's complete answer. Bytes: on the wire, TLS included, out is what the driver sends.",
    `Memory: the drivers run with the heap limit of a function of ${FUNCTION_MEMORY_MB} MB.`,
    "Memory per membership: less a process of the same driver without members; RSS by its largest sample, heap after a full collection.",
    "The table is in memory; the beat path is otherwise the function's own: role, window, grid, clients, telemetry.",
    "All agents of the baseline share one process and one trust store, where each is a Pod of its own in truth, and only beat.",
    ...(http2 ? ["All requests were sent over HTTP/2."] : ["Some requests were sent over HTTP/1.1."]),
    ...(token === undefined ? [] : [tokenNote(token, sizes)]),
  ].join("\n");
}

/** What the baseline would send if it were written in Go. */
function tokenNote(token: number, sizes: BeatReport["sizes"]): string {
  const indexed = sizes.map(({ memberships, baseline }) => {
    const { bytesOutPerBeat, requestsPerBeat } = baseline;
    if (bytesOutPerBeat === undefined || requestsPerBeat === undefined) return `- (${memberships})`;
    return `${showNumber(bytesOutPerBeat.median - requestsPerBeat.median * (token - 1))} (${memberships})`;
  });
  return [
    `The Authorization header is ${token} bytes of each request: nghttp2 keeps it out of the HPACK table, Go's client does not.`,
    `With Go's, the baseline would send per beat so many bytes (memberships): ${indexed.join(", ")}.`,
    "Tokens of the simulated leader are signed with ES256; those of a leader that signs with RS256 are longer by about 250 bytes.",
  ].join("\n");
}

function middle(figure: number | Spread | undefined): number | undefined {
  return typeof figure === "object" ? figure.median : figure;
}

function show(figure: number | Spread | undefined): string {
  return typeof figure === "object" ? showSpread(figure) : showNumber(figure);
}
