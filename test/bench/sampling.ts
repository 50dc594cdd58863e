import { systemClock } from "../../lib/base/clock.ts";

/** What a process has used by a moment. */
export interface Sample {
  /** Milliseconds since the epoch. */
  readonly atMs: number;
  /** User and system time since the process began, in milliseconds. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly heapUsedBytes: number;
  /** Memory of buffers and native objects that the heap knows of. */
  readonly externalBytes: number;
}

/** Which intervals are measured: `intervals` of `intervalMs` from `fromMs` (milliseconds since the epoch). */
export interface Measured {
  readonly fromMs: number;
  readonly intervalMs: number;
  readonly intervals: number;
}

/** This process now. */
function takeSample(): Sample {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  return {
    atMs: systemClock.now().getTime(),
    cpuMs: (userCPUTime + systemCPUTime) / 1000,
    rssBytes: rss,
    heapUsedBytes: heapUsed,
    externalBytes: external,
  };
}

/** A sample at the beginning and at the end of each interval: one more than intervals. */
export async function sampleIntervals({ fromMs, intervalMs, intervals }: Measured): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (let i = 0; i <= intervals; i += 1) {
    await systemClock.sleep(fromMs + i * intervalMs - systemClock.now().getTime());
    samples.push(takeSample());
  }
  return samples;
}

/** What stays after a full collection; the process must run with `--expose-gc`. */
export async function sampleRetained(): Promise<Sample> {
  if (globalThis.gc === undefined) throw new Error("a measured process must be started with --expose-gc");
  // Weak references and finalizers need a turn between two collections.
  for (let i = 0; i < 3; i += 1) {
    await globalThis.gc({ execution: "async" });
  }
  return takeSample();
}
