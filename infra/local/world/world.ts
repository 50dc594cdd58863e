import { accessSync, constants, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import type { Clock } from "../../../lib/base/clock.ts";
import { gridOffsetMs, gridPointAtOrBefore } from "../../../lib/base/grid.ts";
import type { Random } from "../../../lib/base/random.ts";
import { describeUserErrors, type UserError } from "../../../lib/base/user-error.ts";
import { type LocalAws, startLocalAws } from "./aws.ts";
import { BEAT_INTERVAL_MS } from "./beat-statistics.ts";
import { BeatLedger, type ReceivedBeat } from "./beats.ts";
import type { ClusterWorld, WorldMember } from "./cluster-world.ts";
import type { WorldEvent } from "./events.ts";
import { FunctionLog } from "./function-log.ts";
import { readManifests } from "./manifests.ts";
import { useRealClusters } from "./real.ts";
import { startOnControlPlane } from "./real-control-plane.ts";
import { startSimulated } from "./simulated.ts";
import { type LocalWorldState, readLocalWorld, removeLocalWorld, writeLocalWorld } from "./state-file.ts";

export type { WorldMember } from "./cluster-world.ts";

/** The world cannot start for a reason that the user can mend; shown without a stack. */
export class WorldError extends Error {}

/** What a world is made of. */
export interface WorldOptions {
  /** Folder for its state file, kubeconfigs and logs. */
  readonly dataDir: string;
  /** Manifests are applied in simulated clusters; with `assets`, a folder with Kubernetes' programs, in real ones. */
  readonly clusters: { readonly manifests: string; readonly assets?: string } | { readonly config: string };
  /** Timeout of the relay's functions, in milliseconds. */
  readonly windowMs: number;
  readonly standby: "cold" | "hot";
  readonly clock: Clock;
  readonly random: Random;
  readonly onEvent: (event: WorldEvent) => void;
  /** Ends the start early. */
  readonly signal: AbortSignal;
}

/** A running world. */
export interface World {
  readonly target: LocalWorldState;
  readonly aws: LocalAws;
  readonly members: readonly WorldMember[];
  readonly beats: BeatLedger;
  isConnected(member: WorldMember): boolean;
  /** Joins a member through the function `bootstrap`; tells of the outcome as an event. True when it has joined. */
  join(member: WorldMember): Promise<boolean>;
  stop(): Promise<void>;
}

/** Starts everything on this machine: AWS, clusters, functions. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const running = readLocalWorld(options.dataDir);
  if (running !== undefined) {
    throw new WorldError(
      `a local world runs already in ${options.dataDir} (process ${running.pid}). End it, or name another folder with --data`,
    );
  }
  prepareFolder(options.dataDir);
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    removeLocalWorld(options.dataDir);
    for (const each of stops.toReversed()) await each();
  };
  const tell = (message: string): void =>
    options.onEvent({ event: "progress", at: options.clock.now().toISOString(), message });
  try {
    // The clusters come first: a mistake in what the user named is told at once, and at the end the functions stop
    // before their clusters do.
    const announces = new Map<string, string>();
    const ledger = new BeatLedger((beat) => tellBeat(options, announces, beat));
    const clusters = await startClusters(options, ledger, tell);
    stops.push(() => clusters.stop());
    for (const member of clusters.members) announces.set(member.announce, member.cluster);
    options.signal.throwIfAborted();

    tell("Starting DynamoDB, Lambda, EventBridge Scheduler and SSM on this machine");
    const log = new FunctionLog(options.dataDir);
    stops.push(() => log.close());
    const aws = await startLocalAws({ ...options, onLog: (event) => log.write(event) });
    stops.push(() => aws.stop());
    options.signal.throwIfAborted();

    const kubeconfigs = writeKubeconfigs(options.dataDir, clusters.members);
    const target = worldState(aws, kubeconfigs);
    writeLocalWorld(options.dataDir, target);
    return {
      target,
      aws,
      members: clusters.members,
      beats: ledger,
      isConnected: (member) => clusters.isConnected(member),
      join: (member) => joinMember(options, aws, member, kubeconfigs[member.cluster] ?? ""),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function prepareFolder(dataDir: string): void {
  try {
    makeFolder(resolve(dataDir));
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new WorldError(`${dataDir} cannot be written (${code}). Name another folder with --data`);
  }
}

/** Level by level: Node's own recursion goes round for ever where a level cannot be made (`/proc/x`). */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: 0o700 });
}

async function startClusters(
  options: WorldOptions,
  ledger: BeatLedger,
  progress: (m: string) => void,
): Promise<ClusterWorld> {
  const { clock, random, clusters, signal } = options;
  if ("config" in clusters) return await useRealClusters({ configFile: clusters.config, clock, ledger, progress });
  const manifests = readManifests(clusters.manifests);
  const { assets } = clusters;
  return assets === undefined
    ? await startSimulated({ manifests, clock, random, ledger, progress })
    : await startOnControlPlane({ assets, manifests, clock, ledger, progress, signal });
}

function tellBeat(options: WorldOptions, announces: ReadonlyMap<string, string>, beat: ReceivedBeat): void {
  const cluster = announces.get(beat.announce);
  if (cluster === undefined) return;
  const point = gridPointAtOrBefore(beat.at, gridOffsetMs(cluster, BEAT_INTERVAL_MS), BEAT_INTERVAL_MS);
  const at = new Date(beat.at).toISOString();
  options.onEvent({ event: "beat", at, cluster, latenessMs: Math.round(beat.at - point) });
}

function writeKubeconfigs(dataDir: string, members: readonly WorldMember[]): Record<string, string> {
  const folder = join(dataDir, "kubeconfigs");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return Object.fromEntries(
    members.map((member) => {
      const file = join(folder, `${member.cluster}.yaml`);
      writeFileSync(file, member.kubeconfig, { mode: 0o600 });
      return [member.cluster, file];
    }),
  );
}

function worldState(aws: LocalAws, kubeconfigs: Readonly<Record<string, string>>): LocalWorldState {
  return {
    pid: process.pid,
    region: aws.region,
    stage: aws.stage,
    table: aws.tableName,
    functionPrefix: aws.functionPrefix,
    endpoints: aws.endpoints,
    kubeconfigs,
  };
}

async function joinMember(
  options: WorldOptions,
  aws: LocalAws,
  member: WorldMember,
  kubeconfig: string,
): Promise<boolean> {
  const { cluster, protocol, antrea, context } = member;
  const access = { kubeconfig: { file: kubeconfig, ...(context === undefined ? {} : { context }) } };
  const at = (): string => options.clock.now().toISOString();
  try {
    const answer = await invokeBootstrap(aws, { cluster, protocol, access, antrea }, options.signal);
    if (answer.ok === true) options.onEvent({ event: "joined", at: at(), cluster, answer });
    else options.onEvent({ event: "notJoined", at: at(), cluster, problem: problemOf(answer) });
    return answer.ok === true;
  } catch (error) {
    if (!options.signal.aborted) options.onEvent({ event: "notJoined", at: at(), cluster, problem: String(error) });
    return false;
  }
}

/** What `bootstrap` answers, or Lambda in its place. */
interface BootstrapAnswer {
  readonly ok?: boolean;
  readonly errors?: readonly UserError[];
  readonly errorMessage?: string;
}

async function invokeBootstrap(aws: LocalAws, document: object, signal: AbortSignal): Promise<BootstrapAnswer> {
  const client = new LambdaClient({
    region: aws.region,
    endpoint: aws.endpoints.lambda,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
  try {
    const command = new InvokeCommand({
      FunctionName: `${aws.functionPrefix}bootstrap`,
      Payload: JSON.stringify(document),
    });
    const answer = await client.send(command, { abortSignal: signal });
    return JSON.parse(Buffer.from(answer.Payload ?? []).toString("utf8")) as BootstrapAnswer;
  } finally {
    client.destroy();
  }
}

function problemOf({ errors, errorMessage }: BootstrapAnswer): string {
  return errors === undefined ? `the function failed: ${errorMessage ?? "no message"}` : describeUserErrors(errors);
}
