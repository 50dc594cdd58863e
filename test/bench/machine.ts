import { availableParallelism, cpus, freemem, loadavg, totalmem } from "node:os";
import { VERSION } from "../../lib/runtime/version.ts";

/** Where figures were measured: without it they mean nothing. */
export interface Machine {
  readonly cores: number;
  readonly model: string;
  readonly platform: string;
  readonly memoryGB: number;
  readonly freeMemoryGB: number;
  /** 1, 5 and 15 minutes; over the number of cores, others were at work too. */
  readonly loadAverage: readonly number[];
  readonly node: string;
  readonly hawser: string;
}

/** This machine now. */
export function describeMachine(): Machine {
  return {
    cores: availableParallelism(),
    model: cpus()[0]?.model.trim() ?? "unknown",
    platform: `${process.platform} ${process.arch}`,
    memoryGB: gigabytes(totalmem()),
    freeMemoryGB: gigabytes(freemem()),
    loadAverage: loadavg().map((load) => Math.round(load * 100) / 100),
    node: process.version,
    hawser: VERSION,
  };
}

function gigabytes(bytes: number): number {
  return Math.round((bytes / 1e9) * 10) / 10;
}
