import { functionHandler } from "../lib/runtime/handler.ts";
import { onFirstUse } from "../lib/runtime/on-first-use.ts";
import { wireWatch } from "../lib/runtime/wiring-watch.ts";

const watch = onFirstUse(wireWatch);

/** Scheduled every minute for each shard: works a window of the relay role `watch`. Event: `{role, shard}`. */
export const handler = functionHandler("watch", async (event, invocation) => await watch()(event, invocation));
