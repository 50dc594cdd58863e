import { functionHandler } from "../lib/runtime/handler.ts";
import { onFirstUse } from "../lib/runtime/on-first-use.ts";
import { wireLeave } from "../lib/runtime/wiring-leave.ts";

const leave = onFirstUse(wireLeave);

/** One-shot: leaves a cluster's hub, or says what is in the way. Event: `{cluster, force?}`. May be repeated at any time. */
export const handler = functionHandler("leave", async (event, invocation) => await leave()(event, invocation));
