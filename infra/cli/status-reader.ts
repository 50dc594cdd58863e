import type { Clock } from "../../lib/base/clock.ts";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { openState, type State } from "../../lib/state/state.ts";
import type { ImportReader, StatusReader } from "../../lib/status/ports.ts";
import type { Target } from "./target.ts";

/** The state of a target. */
export function openTargetState(target: Target, clock: Clock): State {
  return openState({
    tableName: target.table,
    region: target.region,
    ...(target.endpoints === undefined ? {} : { endpoint: target.endpoints.dynamodb }),
    ...(target.credentials === undefined ? {} : { credentials: target.credentials }),
    clock,
    random: systemRandom,
    ids: systemIds(clock, systemRandom),
    onUnreadable: (error) => console.error(`hawser: ${error.message}`),
  });
}

/** Reads the state of a target; connections are closed when the process ends. */
export function statusReader(target: Target, clock: Clock): StatusReader & ImportReader {
  const state = openTargetState(target, clock);
  return {
    listImports: (cluster, page, signal) => state.listImports(cluster, page, signal),
    listMemberships: (query, signal) => state.listMemberships(query, signal),
    readConditions: (cluster, protocol, signal) => state.readConditions(cluster, protocol, signal),
    readShard: (shard, signal) => state.readShard(shard, signal),
    readBaton: (role, scope, signal) => state.batons.read({ role, scope }, signal),
  };
}
