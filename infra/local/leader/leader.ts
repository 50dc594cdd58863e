import type { Clock } from "../../../lib/base/clock.ts";
import { ApiClient, type ApiRecord } from "../api-client/api-client.ts";
import { reflect } from "../api-client/reflector.ts";
import { type LeaderOptions, LeaderWebhook } from "./leader-webhook.ts";
import { clusterSetStatus, judge, type MemberStatus, seen } from "./member-status.ts";
import { announceFinalizer, paths } from "./resources.ts";
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
  await webhook.start();
  await webhook.install();

  const work = Promise.all([
    reflect(
      client,
      paths.announces(namespace),
      {
        changed: (announce) => takeAnnounce(client, namespace, members, announce, clock),
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
    sweep(client, namespace, clock).then(() =>
      every(SWEEP_INTERVAL_MS, clock, ended.signal, () => sweep(client, namespace, clock)),
    ),
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
    },
  };
}

/** Every event of an announce counts as a sign of life; a departing one loses its exports, then its finalizer. */
async function takeAnnounce(
  client: ApiClient,
  namespace: string,
  members: Map<string, MemberStatus>,
  announce: ApiRecord,
  clock: Clock,
): Promise<void> {
  const clusterId = clusterIdOf(announce);
  const finalizer = announceFinalizer(clusterId);
  const finalizers = announce.metadata.finalizers ?? [];
  const put = (wanted: string[]): Promise<unknown> =>
    client.request("PUT", `${paths.announces(namespace)}/${announce.metadata.name}`, {
      ...announce,
      metadata: { ...announce.metadata, finalizers: wanted },
    });
  if (announce.metadata.deletionTimestamp !== undefined) {
    members.delete(clusterId);
    if (finalizers.includes(finalizer) && (await deleteExports(client, namespace, clusterId))) {
      await put(finalizers.filter((f) => f !== finalizer));
    }
    return;
  }
  members.set(clusterId, seen(members.get(clusterId), clusterId, clock.now().getTime()));
  // A conflict is mended by the event that caused it.
  if (!finalizers.includes(finalizer)) await put([...finalizers, finalizer]);
}

/** True when no export of the cluster is left to delete. */
async function deleteExports(client: ApiClient, namespace: string, clusterId: string): Promise<boolean> {
  const list = await client.request("GET", paths.exports(namespace));
  // 404: a leader without that resource has no exports.
  if (list.code === 404) return true;
  const own = (list.body.items ?? []).filter(
    (e) => (e["spec"] as { clusterID?: string } | undefined)?.clusterID === clusterId,
  );
  const answers = await Promise.all(
    own.map((e) => client.request("DELETE", `${paths.exports(namespace)}/${e.metadata.name}`)),
  );
  return list.code === 200 && answers.every((a) => a.code < 300 || a.code === 404);
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

/** Runs `task` each interval until the signal; what fails is told and tried again at the next. */
async function every(intervalMs: number, clock: Clock, signal: AbortSignal, task: () => Promise<void>): Promise<void> {
  for (;;) {
    await clock.sleep(intervalMs, signal);
    if (signal.aborted) return;
    try {
      await task();
    } catch (error) {
      if (!signal.aborted)
        console.error(
          JSON.stringify({ level: "warn", message: "the leader could not finish a round", error: String(error) }),
        );
    }
  }
}

function clusterIdOf(announce: ApiRecord): string {
  const id = announce["clusterID"];
  return typeof id === "string" ? id : "";
}
