import { parentPort, workerData } from "node:worker_threads";
import { type SimulationOptions, simulate } from "./run.ts";

// Histories in a thread of their own: beside a test runner, whose hooks make every promise cost twice.

// A stack for every aborted signal is most of the cost of a history.
Error.stackTraceLimit = 0;

parentPort?.postMessage(await simulate(workerData as SimulationOptions), []);
