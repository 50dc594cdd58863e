import type { UserError } from "../base/user-error.ts";
import type { ShardScheduleSettings } from "./shard-schedules.ts";

/** What a leave does, in this order. Each step may be repeated; a leave that was cut off goes on where it stood. */
export type LeaveStep = "leaving" | "stop" | "member" | "hub" | "credential" | "shard" | "schedules" | "table";

/** One step, and what it did. `unchanged`: there was nothing to do; `orphaned`: given up, what stays behind is named. */
export interface LeaveReport {
  readonly step: LeaveStep;
  readonly outcome: "done" | "unchanged" | "orphaned" | "failed";
  readonly message?: string;
}

/** What a leave answers: always the steps, and either what stays behind or what is in the way. */
export type LeaveAnswer =
  | {
      readonly ok: true;
      readonly cluster: string;
      /** False when there was no such membership. */
      readonly changed: boolean;
      /** What was given up and stays behind. */
      readonly orphans: readonly string[];
      readonly steps: readonly LeaveReport[];
    }
  | {
      readonly ok: false;
      readonly errors: readonly UserError[];
      /** The membership is leaving: what is missing is tried again by itself until it is done. */
      readonly underWay: boolean;
      readonly steps: readonly LeaveReport[];
    };

/** How a leave is done. */
export interface LeaveSettings extends ShardScheduleSettings {
  /** Begin a leave that nobody has begun; else only one that is under way is taken further. */
  readonly begin: boolean;
  /** What cannot be reached is given up and named. */
  readonly force: boolean;
  /** Longest wait for windows to stop beating for the membership, in milliseconds. */
  readonly stopMs: number;
}
