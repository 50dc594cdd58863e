import type { ConditionKey } from "./condition.ts";
import type { Protocol } from "./membership.ts";

/** Primary key of an item. */
export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

/** Prefix of the partitions that say under which name a cluster has joined. */
export const IDENTITY_PREFIX = "IDENTITY#";

/** Partition of the memberships that are on their way. */
export const UNDER_WAY = "UNDERWAY";

/**
 * The keys of the one table. `#` separates the parts; no part that stands before another may contain it, which holds
 * for DNS-1123 names, protocols, areas and condition types.
 */
export const keys = {
  /** All items of one cluster: memberships, conditions, cursors, imports, events. */
  cluster: (cluster: string): string => `CLUSTER#${cluster}`,
  membership: (cluster: string, protocol: Protocol): ItemKey => ({
    pk: keys.cluster(cluster),
    sk: `MEMBERSHIP#${protocol}`,
  }),
  condition: (key: ConditionKey): ItemKey => ({
    pk: keys.cluster(key.cluster),
    sk: `${conditionPrefix(key.protocol, key.area)}${key.type}`,
  }),
  cursor: (cluster: string, resource: string): ItemKey => ({ pk: keys.cluster(cluster), sk: `CURSOR#${resource}` }),
  import: (cluster: string, name: string): ItemKey => ({ pk: keys.cluster(cluster), sk: `IMPORT#${name}` }),
  event: (cluster: string, id: string): ItemKey => ({ pk: keys.cluster(cluster), sk: `EVENT#${id}` }),
  shard: (shard: string): ItemKey => ({ pk: `SHARD#${shard}`, sk: "SHARD" }),
  shardMember: (shard: string, cluster: string, protocol: Protocol): ItemKey => ({
    pk: `SHARD#${shard}`,
    sk: `MEMBER#${cluster}#${protocol}`,
  }),
  /** The directory of shards: one small item each, so that they can be listed, strongly consistent, without a scan. */
  shardEntry: (networkProfile: string, number: number): ItemKey => ({
    pk: "SHARDS",
    sk: `${shardEntryPrefix(networkProfile)}${String(number).padStart(6, "0")}`,
  }),
  /** The directory of memberships that are on their way: joining, leaving or left, for whoever takes them further. */
  underWay: (cluster: string, protocol: Protocol): ItemKey => ({ pk: UNDER_WAY, sk: `${cluster}#${protocol}` }),
  /** Which name a cluster has joined under by a protocol: it may have one. */
  identity: (clusterUID: string, protocol: Protocol): ItemKey => ({
    pk: `${IDENTITY_PREFIX}${clusterUID}`,
    sk: protocol,
  }),
  baton: (role: string, scope: string): ItemKey => ({ pk: `BATON#${role}#${scope}`, sk: "BATON" }),
  /** What did not fit into the baton: a part of its exceptions. */
  batonExceptions: (role: string, scope: string, part: number): ItemKey => ({
    pk: `BATON#${role}#${scope}`,
    sk: `EXCEPTIONS#${String(part).padStart(4, "0")}`,
  }),
  schema: { pk: "SCHEMA", sk: "SCHEMA" } satisfies ItemKey,
} as const;

/** Sort key prefix of the conditions of a protocol, or of one of its areas. */
export function conditionPrefix(protocol: Protocol, area?: string): string {
  return area === undefined ? `CONDITION#${protocol}#` : `CONDITION#${protocol}#${area}#`;
}

/** Sort key prefix of a network profile's shards in the directory. */
export function shardEntryPrefix(networkProfile: string): string {
  return `PROFILE#${networkProfile}#`;
}
