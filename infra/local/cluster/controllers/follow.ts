import type { Clock } from "../../../../lib/base/clock.ts";
import type { Engine, ResourceRequest, UserInfo, Verb, WatchEvent } from "../types.ts";

/** Who the cluster's own controllers are. */
const CONTROLLER: UserInfo = { username: "system:kube-controller-manager", groups: ["system:masters"] };
const RETRY_MS = 1000;

/** Names a resource. */
export interface Followed {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** What a controller follows, and with what. */
export interface Following {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Hands each event of a resource to a controller, one after the other, until the signal fires; what is there comes as ADDED. */
export async function follow(
  { engine, clock, signal }: Following,
  of: Followed,
  handle: (event: WatchEvent) => Promise<void>,
): Promise<void> {
  while (!signal.aborted) {
    const reply = await engine.watch(controllerRequest("watch", of, signal, { watch: "true" }));
    if (reply.kind === "events") for await (const event of reply.events) await handle(event);
    await clock.sleep(RETRY_MS, signal);
  }
}

/** A request by a controller. */
export function controllerRequest(
  verb: Verb,
  of: Followed,
  signal: AbortSignal,
  query: Readonly<Record<string, string>> = {},
): ResourceRequest {
  return { verb, ...of, query: new URLSearchParams(query), user: CONTROLLER, signal };
}
