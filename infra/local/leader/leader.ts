import type { Clock } from "../../../lib/base/clock.ts";
import { ApiClient, type ApiRecord } from "../api-client/api-client.ts";
import { reflect } from "../api-client/reflector.ts";
import { Departures } from "./departures.ts";
import { Exchange } from "./exchange.ts";
import { type LeaderOptions, LeaderWebhook } from "./leader-webhook.ts";
import { clusterSetStatus, judge, type MemberStatus, seen } from "./member-status.ts";
import { announceFinalizer, clusterIdOf, paths } from "./resources.ts";
import { isStale, SWEEP_INTERVAL_MS } from "./stale.ts";

const JUDGE_INTERVAL_MS = 10_000;
const STATUS_INTERVAL_MS = 30_000;

/** A running leader. */
export interface Leader {
  /** Members as the leader sees them now. */
  members(): readonly MemberStatus[];
  /** Takes the webhook down or up, as when the controller Pod is gone while the API server works. */
  stopWebhook(): Promise<void>;
  startWebhook(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The controllers and the webhook of an Antrea leader, as far as members depend on them. They speak only the
 * Kubernetes API, so that they work on a real API server as on the simulated one.
 */
export async function startLeader(options: LeaderOptions): Promise<Leader> {
  const client = new ApiClient(options.kubeconfig, options.context);
  const { namespace, clock } = options;
  const ended = new AbortController();
  const members = new Map<string, MemberStatus>();
  const webhook = new LeaderWebhook(client, options);
  await begin(webhook, client);

  const departures = new Departures(client, namespace, clock, ended.signal);
  const work = Promise.all([
    new Exchange({ client, namespace, clock, signal: ended.signal }).run(),
    reflect(
      client,
      paths.announces(namespace),
      {
        changed: (announce) => takeAnnounce({ client, namespace, clock, members, departures }, announce),
        deleted: (announce) => {
          members.delete(clusterIdOf(announce));
          return Promise.resolve();
        },
      },
      clock,
      ended.signal,
    ),
    every(JUDGE_INTERVAL_MS, clock, ended.signal, () => {
      for (const [id, member] of members) members.set(id, judge(member, clock.now().getTime()));
      return Promise.resolve();
    }),
    every(STATUS_INTERVAL_MS, clock, ended.signal, () => writeStatus(client, namespace, [...members.values()], clock)),
    sweepForEver(client, namespace, clock, ended.signal),
  ]);

  return {
    members: () => [...members.values()],
    stopWebhook: () => webhook.stop(),
    startWebhook: () => webhook.start(),
    stop: async () => {
      ended.abort();
      await webhook.stop();
      await client.close();
      await work;
      await departures.ended();
    },
  };
}

/** A leader that cannot begin leaves no server behind. */
async function begin(webhook: LeaderWebhook, client: ApiClient): Promise<void> {
  try {
    await webhook.start();
    await webhook.install();
  } catch (error) {
    await webhook.stop();
    await client.close();
    throw error;
  }
}

interface Watching {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly members: Map<string, MemberStatus>;
  readonly departures: Departures;
}

/** Every event of an announce counts as a sign of life, but for a departing one. */
async function takeAnnounce(watching: Watching, announce: ApiRecord): Promise<void> {
  const { client, namespace, clock, members, departures } = watching;
  const clusterId = clusterIdOf(announce);
  if (announce.metadata.deletionTimestamp !== undefined) {
    members.delete(clusterId);
    departures.begin(announce);
    return;
  }
  members.set(clusterId, seen(members.get(clusterId), clusterId, clock.now().getTime()));
  const finalizer = announceFinalizer(clusterId);
  const { finalizers = [] } = announce.metadata;
  if (finalizers.includes(finalizer)) return;
  // A conflict is mended by the event that caused it, anything else by the next beat.
  await client.request("PUT", `${paths.announces(namespace)}/${announce.metadata.name}`, {
    ...announce,
    metadata: { ...announce.metadata, finalizers: [...finalizers, finalizer] },
  });
}

async function writeStatus(
  client: ApiClient,
  namespace: string,
  members: readonly MemberStatus[],
  clock: Clock,
): Promise<void> {
  const list = await client.request("GET", paths.clusterSets(namespace));
  for (const clusterSet of list.body.items ?? []) {
    const before = clusterSet["status"] as { conditions?: [] } | undefined;
    const status = clusterSetStatus(
      members,
      clusterSet.metadata.generation ?? 0,
      before?.conditions ?? [],
      clock.now().getTime(),
    );
    await client.request("PUT", `${paths.clusterSets(namespace)}/${clusterSet.metadata.name}/status`, {
      ...clusterSet,
      status,
    });
  }
}

async function sweep(client: ApiClient, namespace: string, clock: Clock): Promise<void> {
  const list = await client.request("GET", paths.announces(namespace));
  const stale = (list.body.items ?? []).filter((announce) => isStale(announce, clock.now().getTime()));
  await Promise.all(stale.map((a) => client.request("DELETE", `${paths.announces(namespace)}/${a.metadata.name}`)));
}

/** At once, as a leader that was restarted does, and then at its interval. */
async function sweepForEver(client: ApiClient, namespace: string, clock: Clock, signal: AbortSignal): Promise<void> {
  await attempt(signal, () => sweep(client, namespace, clock));
  await every(SWEEP_INTERVAL_MS, clock, signal, () => sweep(client, namespace, clock));
}

/** Runs `task` each interval until the signal; what fails is told and tried again at the next. */
async function every(intervalMs: number, clock: Clock, signal: AbortSignal, task: () => Promise<void>): Promise<void> {
  for (;;) {
    await clock.sleep(intervalMs, signal);
    if (signal.aborted) return;
    await attempt(signal, task);
  }
}

async function attempt(signal: AbortSignal, task: () => Promise<void>): Promise<void> {
  try {
    await task();
  } catch (error) {
    if (signal.aborted) return;
    const message = "the leader could not finish a round";
    console.error(JSON.stringify({ level: "warn", message, error: String(error) }));
  }
}
