import type { Clock } from "../../../../lib/base/clock.ts";
import { never } from "../../../../lib/base/result.ts";
import type { Exchange } from "../front/exchange.ts";
import type { WatchStream } from "../front/watch-stream.ts";
import { failure } from "../status.ts";
import type { FaultAction, Faults } from "./faults.ts";

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/**
 * Lets the faults of a request happen, in their order.
 * @returns true when the request is over with that, false when it goes on
 */
export async function applyFaults(
  actions: readonly FaultAction[],
  exchange: Exchange,
  faults: Faults,
  clock: Clock,
  limit: AbortSignal = exchange.signal,
): Promise<boolean> {
  for (const action of actions) {
    if (await applyFault(action, exchange, faults, clock, limit)) return true;
  }
  return false;
}

async function applyFault(
  action: FaultAction,
  exchange: Exchange,
  faults: Faults,
  clock: Clock,
  limit: AbortSignal,
): Promise<boolean> {
  switch (action.kind) {
    case "latency":
      await clock.sleep(faults.latencyMs(action), limit);
      return exchange.signal.aborted;
    case "hang":
      await exchange.hang();
      return true;
    case "halfOpen":
      exchange.connection.freeze();
      await exchange.hang();
      return true;
    case "reset":
      exchange.connection.reset();
      return true;
    case "truncate":
    case "drip":
      exchange.spoiling = action;
      return false;
    case "status":
      await sendStatus(action, exchange);
      return true;
    case "watch":
      if (action.fault !== "goneStatus") return false;
      await sendStatus({ kind: "status", code: 410, message: "too old resource version: 1 (2)" }, exchange);
      return true;
    default:
      return never(action);
  }
}

/** Prepares a stream for the fault of a watch, if one is planned. */
export function armWatch(actions: readonly FaultAction[], stream: WatchStream): void {
  for (const action of actions) {
    if (action.kind === "watch" && action.fault !== "goneStatus")
      stream.failAfter(action.fault, action.afterEvents ?? 0);
  }
}

async function sendStatus(action: FaultAction & { readonly kind: "status" }, exchange: Exchange): Promise<void> {
  const headers = { "content-type": "application/json", ...action.headers };
  const { code, reason = REASONS[code] ?? "", message = `injected fault: ${code}` } = action;
  const body = action.body ?? JSON.stringify(failure(code, reason, message));
  await exchange.send(code, body, headers, code === 401);
}
