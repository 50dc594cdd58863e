import type { Clock } from "../../../lib/base/clock.ts";
import type { Ids } from "../../../lib/base/ids.ts";
import type { Random } from "../../../lib/base/random.ts";
import { startLoopbackServer } from "../aws/loopback-server.ts";
import { SchedulerApi } from "./api.ts";
import { ClientTokens } from "./client-tokens.ts";
import { type DeadLetter, deliver, type Firing, type Invoke } from "./delivery.ts";
import { ScheduleStore } from "./store.ts";
import { Ticker } from "./ticker.ts";

/** What the service needs. */
export interface SchedulerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  /** Where firings go. */
  readonly invoke: Invoke;
  readonly region?: string;
  readonly accountId?: string;
  /** How long a minute of the schedules lasts by the clock; 60,000 by default, less for a demonstration. */
  readonly minuteMs?: number;
  /** How likely a firing is to come twice; 0.03 by default. */
  readonly duplicateProbability?: number;
  /** Told of every firing when it has been delivered or given up. */
  readonly onFiring?: (firing: Firing) => void;
}

/** A running EventBridge Scheduler. */
export interface LocalScheduler {
  /** For `AWS_ENDPOINT_URL_SCHEDULER`. */
  readonly url: string;
  /** What has arrived in the dead-letter queues; of one queue when its ARN is given. */
  deadLetters(queueArn?: string): readonly DeadLetter[];
  /** Ends all timers and frees the port. */
  stop(): Promise<void>;
}

const MINUTE_MS = 60_000;
const DUPLICATES = 0.03;

/** Starts EventBridge Scheduler on 127.0.0.1. Schedules live in memory. */
export async function startScheduler(options: SchedulerOptions): Promise<LocalScheduler> {
  const letters: DeadLetter[] = [];
  const time = serviceTime(options.clock, options.minuteMs ?? MINUTE_MS);
  const ticker: Ticker = new Ticker({
    random: options.random,
    ...time,
    duplicateProbability: options.duplicateProbability ?? DUPLICATES,
    fire: async (schedule, due, signal) => {
      const delivery = {
        invoke: options.invoke,
        random: options.random,
        ids: options.ids,
        ...time,
        onDeadLetter: (letter: DeadLetter) => letters.push(letter),
        onFiring: options.onFiring ?? (() => {}),
      };
      await deliver(delivery, schedule, due, signal);
    },
    remove: ({ request }) => store.delete(request.GroupName, request.Name),
  });
  const store: ScheduleStore = new ScheduleStore({
    now: time.now,
    region: options.region ?? "us-east-1",
    accountId: options.accountId ?? "000000000000",
    listener: ticker,
  });
  const api = new SchedulerApi(store, new ClientTokens(() => options.clock.monotonicMs()));
  const server = await startLoopbackServer(async (request) => await Promise.resolve(api.serve(request)));
  return {
    url: server.url,
    deadLetters: (queueArn) => letters.filter((letter) => queueArn === undefined || letter.queueArn === queueArn),
    stop: async () => {
      await server.stop();
      await ticker.stop();
    },
  };
}

/** The time of the schedules: the clock's own, or faster from the start of the service on. */
function serviceTime(clock: Clock, minuteMs: number) {
  const speed = MINUTE_MS / minuteMs;
  const originMs = clock.now().getTime();
  return {
    now: () => originMs + (clock.now().getTime() - originMs) * speed,
    sleep: async (ms: number, signal: AbortSignal) => await clock.sleep(ms / speed, signal),
  };
}
