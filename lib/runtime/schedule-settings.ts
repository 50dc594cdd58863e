import type { Config } from "./config.ts";
import { SHARD_ROLES } from "./roles.ts";
import type { ShardScheduleSettings } from "./shard-schedules.ts";

/** Where the stage's schedules are, and for which roles. */
export function scheduleSettings(config: Config): ShardScheduleSettings {
  return {
    stage: config.stage,
    group: config.scheduleGroup,
    functionArnPrefix: config.functionArnPrefix,
    roleArn: config.schedulerRoleArn,
    deadLetterArn: config.deadLetterArn,
    roles: SHARD_ROLES,
  };
}
