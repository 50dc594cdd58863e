import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { startLambda } from "../../../infra/local/lambda/lambda.ts";
import { startParameters } from "../../../infra/local/parameters/parameters.ts";
import { startScheduler } from "../../../infra/local/scheduler/scheduler.ts";
import { startTable } from "../../../infra/local/table/table.ts";
import { createTableFromTemplate } from "../../../infra/local/table/template.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { systemIds } from "../../../lib/base/ids.ts";
import { systemRandom } from "../../../lib/base/random.ts";
import { planSchedules } from "../../../lib/schedule/plan.ts";
import { SdkScheduler } from "../../../lib/schedule/scheduler.ts";
import type { MembershipSpec } from "../../../lib/state/membership.ts";
import { openState, type State } from "../../../lib/state/state.ts";
import { FakeClock } from "../../support/fake-clock.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const STAGE = "local";
export const TABLE = "hawser-local";
export const FUNCTIONS = "hawser-local-";
export const GROUP = "hawser-local";
export const SCHEDULE = "hawser-local-announce-default-1";
export const AT = { region: "us-east-1", credentials: { accessKeyId: "local", secretAccessKey: "local" } };
const ARN = "arn:aws:lambda:us-east-1:000000000000:function:hawser-local-";
const signal = new AbortController().signal;

/** The servers that Hawser's own side is made of, with one joined membership whose window has just renewed its baton. */
export interface EmbeddedAws {
  /** Where a doctor finds the services; a fault may replace one. */
  readonly endpoints: { dynamodb: string; lambda: string; scheduler: string; ssm: string };
  readonly state: State;
  readonly scheduler: SchedulerClient;
  putParameter(name: string, value: string): Promise<void>;
  /** Another moment at which the baton expires. */
  expireBaton(at: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts them. No schedule fires: their clock stands still, and nothing beats but the test. */
export async function startEmbeddedAws(spec: MembershipSpec): Promise<EmbeddedAws> {
  const clock = systemClock;
  const ids = systemIds(clock, systemRandom);
  const table = await startTable({ clock });
  await createTableFromTemplate(table.url, await readFile(`${ROOT}infra/aws/table.yml`, "utf8"), TABLE);
  const invoke = () => "accepted" as const;
  const schedules = await startScheduler({ clock: new FakeClock(), random: systemRandom, ids, invoke });
  const parameters = await startParameters({ clock });
  const lambda = await startLambda({ clock, random: systemRandom, ids });
  const code = { taskRoot: ROOT, handler: "dist/announce.handler", timeoutSeconds: 900, memoryMb: 512 };
  for (const role of ["announce", "watch"]) lambda.register({ name: `${FUNCTIONS}${role}`, ...code });
  const scheduler = new SchedulerClient({ ...AT, endpoint: schedules.url });
  const ssm = new SSMClient({ ...AT, endpoint: parameters.url });
  const state = openState({ tableName: TABLE, ...AT, endpoint: table.url, clock, random: systemRandom, ids });
  await join(state, new SdkScheduler(scheduler, clock, ids), spec);
  return {
    endpoints: { dynamodb: table.url, lambda: lambda.url, scheduler: schedules.url, ssm: parameters.url },
    state,
    scheduler,
    putParameter: async (Name, Value) => {
      await ssm.send(new PutParameterCommand({ Name, Value, Type: "SecureString", Overwrite: true }));
    },
    expireBaton: async (expiresAt) => {
      const change = { expiresAt, writeId: crypto.randomUUID() };
      const changed = await state.batons.change({ role: "announce", scope: "default-1" }, { fence: 7 }, change, signal);
      if (!changed.ok || changed.value.kind !== "changed") throw new Error("the baton could not be changed");
    },
    stop: async () => {
      state.close();
      scheduler.destroy();
      ssm.destroy();
      for (const server of [lambda, parameters, schedules, table]) await server.stop();
    },
  };
}

/** Says of the watch of east's leader how it is. */
export async function sayWatch(state: State, status: "True" | "False", reason: string, message: string): Promise<void> {
  const key = { cluster: "east", protocol: "antrea", area: "watch", type: "ImportsWatched" } as const;
  const observedAt = systemClock.now().getTime();
  const cause = status === "True" ? {} : ({ cause: "PermissionDenied" } as const);
  const next = { status, reason, message, observedAt, failures: 0, assignment: 1, fence: 7, ...cause };
  const written = await state.writeCondition(key, next, {}, signal);
  if (!written.ok) throw new Error(written.error.message);
}

async function join(state: State, scheduler: SdkScheduler, spec: MembershipSpec): Promise<void> {
  const { cluster, protocol } = spec;
  const created = await state.createMembership({ spec, createdBy: "test" }, signal);
  if (!created.ok || created.value.kind !== "created") throw new Error("the membership could not be made");
  const change = { phase: "joined", connectedOnce: true, summary: { state: "Connected", since: 0 } } as const;
  await state.updateMembership({ cluster, protocol }, change, {}, signal);
  const settings = {
    stage: STAGE,
    group: GROUP,
    functionArnPrefix: ARN,
    roleArn: "arn:aws:iam::000000000000:role/scheduler",
    deadLetterArn: "arn:aws:sqs:us-east-1:000000000000:dead-letters",
  };
  const { schedules } = planSchedules(settings, { name: "default-1", generation: 1 }, ["announce", "watch"]);
  for (const planned of schedules) {
    const ensured = await scheduler.ensure(planned, signal);
    if (!ensured.ok) throw new Error(ensured.error.message);
  }
  const baton = {
    fence: 7,
    renewals: 1,
    holder: "w-1",
    expiresAt: systemClock.now().getTime() + 3_600_000,
    writeId: "w",
  };
  await state.batons.change({ role: "announce", scope: "default-1" }, "absent", baton, signal);
  await sayWatch(state, "True", "Watching", "");
}
