/** The roles that work for the memberships of a shard; each has a schedule for each shard that is not empty. */
export const SHARD_ROLES = ["announce", "watch"] as const;
