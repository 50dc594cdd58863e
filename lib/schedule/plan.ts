import type { UserError } from "../base/user-error.ts";

/** Where the schedules of a stage are and what they invoke. */
export interface ScheduleSettings {
  readonly stage: string;
  /** The group that all schedules of the stage are in. */
  readonly group: string;
  /** ARN of each function, up to its name. */
  readonly functionArnPrefix: string;
  /** Role that EventBridge Scheduler assumes to invoke the functions. */
  readonly roleArn: string;
  /** Queue for firings that could not be delivered. */
  readonly deadLetterArn: string;
}

/** What a schedule hands to its function. */
export interface ShardEvent {
  readonly role: string;
  readonly shard: string;
}

/** One schedule as it must be. Field by field what EventBridge Scheduler calls it, in our spelling. */
export interface PlannedSchedule {
  readonly name: string;
  readonly group: string;
  readonly description: string;
  readonly expression: string;
  readonly targetArn: string;
  readonly roleArn: string;
  readonly deadLetterArn: string;
  /** JSON of a {@link ShardEvent}. */
  readonly input: string;
  /** Longest time that a firing may wait for its delivery, in seconds; the least that the service allows. */
  readonly maximumEventAgeSeconds: number;
  /** A failed delivery is not repeated: the next minute is the retry. */
  readonly maximumRetryAttempts: number;
}

/** EventBridge Scheduler takes names of 64 characters; a generation behind it may take five of them. */
const NAME_LENGTH = 64 - ".9999".length;

/** A shard in one generation of its schedules. */
export interface ScheduledShard {
  readonly name: string;
  /** From 1; rises when the shard has been empty. */
  readonly generation: number;
}

/**
 * Name of the schedule that fires `role` for a shard: `hawser-<stage>-<role>-<shard>`, from the second generation on with
 * `.<generation>` behind it. No shard's name has a dot.
 */
export function scheduleName(stage: string, role: string, { name, generation }: ScheduledShard): string {
  return `hawser-${stage}-${role}-${name}${generation > 1 ? `.${generation}` : ""}`;
}

/**
 * The schedules that a shard needs: one for each role, every minute, without a flexible window.
 * The answer is in the order of the roles, and empty when a name would be longer than the service allows.
 */
export function planSchedules(
  settings: ScheduleSettings,
  shard: ScheduledShard,
  roles: readonly string[],
): { readonly schedules: readonly PlannedSchedule[]; readonly errors: readonly UserError[] } {
  const schedules = roles.map((role) => planOne(settings, role, shard));
  const errors = roles
    .map((role) => scheduleName(settings.stage, role, { name: shard.name, generation: 1 }))
    .filter((name) => !isName(name))
    .map(nameError);
  return errors.length > 0 ? { schedules: [], errors } : { schedules, errors };
}

function planOne(settings: ScheduleSettings, role: string, shard: ScheduledShard): PlannedSchedule {
  const event: ShardEvent = { role, shard: shard.name };
  return {
    name: scheduleName(settings.stage, role, shard),
    group: settings.group,
    description: `Hawser: ${role} for shard ${shard.name}. A disabled schedule stays disabled.`,
    expression: "rate(1 minute)",
    targetArn: `${settings.functionArnPrefix}${role}`,
    roleArn: settings.roleArn,
    deadLetterArn: settings.deadLetterArn,
    input: JSON.stringify(event),
    maximumEventAgeSeconds: 60,
    maximumRetryAttempts: 0,
  };
}

function isName(name: string): boolean {
  return name.length <= NAME_LENGTH && /^[0-9A-Za-z_.-]+$/.test(name);
}

function nameError(name: string): UserError {
  return {
    path: "shard",
    problem: `${name} is not a name that EventBridge Scheduler takes`,
    remedy: `Use a shorter stage or shard name: the whole may have ${NAME_LENGTH} letters, digits, '-', '_' and '.'.`,
  };
}
