import { functionHandler } from "../lib/runtime/handler.ts";
import { onFirstUse } from "../lib/runtime/on-first-use.ts";
import { wireAnnounce } from "../lib/runtime/wiring-announce.ts";

const announce = onFirstUse(wireAnnounce);

/** Scheduled every minute for each shard: works a window of the relay role `announce`. Event: `{role, shard}`. */
export const handler = functionHandler("announce", async (event, invocation) => await announce()(event, invocation));
