import type { Clock } from "../../lib/base/clock.ts";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { openState } from "../../lib/state/state.ts";
import type { StatusReader } from "../../lib/status/ports.ts";
import type { Target } from "./target.ts";

/** Reads the state of a target; connections are closed when the process ends. */
export function statusReader(target: Target, clock: Clock): StatusReader {
  const state = openState({
    tableName: target.table,
    region: target.region,
    ...(target.endpoints === undefined ? {} : { endpoint: target.endpoints.dynamodb }),
    ...(target.credentials === undefined ? {} : { credentials: target.credentials }),
    clock,
    random: systemRandom,
    ids: systemIds(clock, systemRandom),
    onUnreadable: (error) => console.error(`hawser: ${error.message}`),
  });
  return {
    listMemberships: (query, signal) => state.listMemberships(query, signal),
    readConditions: (cluster, protocol, signal) => state.readConditions(cluster, protocol, signal),
    readBaton: (role, scope, signal) => state.batons.read({ role, scope }, signal),
  };
}
