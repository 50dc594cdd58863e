import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { SimulationOptions, SimulationReport } from "./run.ts";

/** Runs the histories of `count` seeds from `seed` on, in threads, and adds their reports up. */
export async function simulateInThreads(seed: number, count: number, threads = 2): Promise<SimulationReport> {
  const share = Math.ceil(count / threads);
  const parts = Array.from({ length: threads }, (_, i) => ({
    seed: seed + i * share,
    count: Math.max(0, Math.min(share, count - i * share)),
  }));
  const reports = await Promise.all(parts.map(simulateInThread));
  return {
    histories: reports.reduce((sum, report) => sum + report.histories, 0),
    beats: reports.reduce((sum, report) => sum + report.beats, 0),
    handovers: reports.reduce((sum, report) => sum + report.handovers, 0),
    failures: reports.flatMap((report) => report.failures),
  };
}

async function simulateInThread(options: SimulationOptions): Promise<SimulationReport> {
  const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData: options });
  const [report] = (await once(worker, "message")) as [SimulationReport];
  return report;
}
