import { functionHandler } from "../lib/runtime/handler.ts";
import { onFirstUse } from "../lib/runtime/on-first-use.ts";
import { wireSweep } from "../lib/runtime/wiring-sweep.ts";

const sweep = onFirstUse(wireSweep);

/** Scheduled every minute: makes shards and schedules agree, takes joins and leaves further that were cut off. */
export const handler = functionHandler("sweep", async (event, invocation) => await sweep()(event, invocation));
