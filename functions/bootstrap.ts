import { functionHandler } from "../lib/runtime/handler.ts";
import { onFirstUse } from "../lib/runtime/on-first-use.ts";
import { wireBootstrap } from "../lib/runtime/wiring-bootstrap.ts";

const bootstrap = onFirstUse(wireBootstrap);

/**
 * One-shot: joins the cluster of a membership document, or moves a membership (`{move: {cluster, shard?}}`), or says what
 * is in the way. May be repeated at any time.
 */
export const handler = functionHandler("bootstrap", async (event, invocation) => await bootstrap()(event, invocation));
