import { join } from "node:path";
import { request } from "undici";
import type { Clock } from "../../../lib/base/clock.ts";
import type { Watchdog } from "../lambda/watchdog.ts";
import type { Child } from "./child.ts";
import { startOnFreePorts } from "./port.ts";

const CALL_TIMEOUT_MS = 5_000;

/** What the storage of a control plane needs. */
export interface EtcdOptions {
  readonly assets: string;
  /** Its data and its log go there. */
  readonly folder: string;
  /** Tells it from another one that might listen on the same port. */
  readonly name: string;
  readonly clock: Clock;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
}

/** A running etcd of one member. */
export interface Etcd {
  readonly child: Child;
  readonly url: string;
}

/** Starts an etcd that does not wait for the disk: what it holds is not meant to outlive it. */
export async function startEtcd(options: EtcdOptions): Promise<Etcd> {
  const { assets, folder, name, clock, watchdog, signal } = options;
  const client = (port: number | undefined): string => `http://127.0.0.1:${port}`;
  const { child, ports } = await startOnFreePorts(
    2,
    ([port, peerPort]) => ({
      program: join(assets, "etcd"),
      args: [
        `--name=${name}`,
        `--data-dir=${join(folder, `etcd-${port}`)}`,
        "--unsafe-no-fsync",
        `--listen-client-urls=${client(port)}`,
        `--advertise-client-urls=${client(port)}`,
        `--listen-peer-urls=${client(peerPort)}`,
        `--initial-advertise-peer-urls=${client(peerPort)}`,
        `--initial-cluster=${name}=${client(peerPort)}`,
        "--log-level=warn",
      ],
      logFile: join(folder, "etcd.log"),
      watchdog,
    }),
    (child, [port]) => child.untilReady(() => isMember(client(port), name), clock, signal),
  );
  return { child, url: client(ports[0]) };
}

async function isMember(url: string, name: string): Promise<boolean> {
  const { members } = (await call(url, "cluster/member/list", {})) as { members?: { name?: string }[] };
  return members?.some((member) => member.name === name) === true;
}

/** Forgets all history up to now, of all clusters that lie in the etcd at `url`. */
export async function compactEtcd(url: string): Promise<void> {
  const { header } = (await call(url, "kv/range", { key: Buffer.from("/").toString("base64") })) as {
    header: { revision: string };
  };
  await call(url, "kv/compaction", { revision: header.revision, physical: true });
}

/** etcd's API over JSON. */
async function call(url: string, path: string, body: object): Promise<unknown> {
  const answer = await request(`${url}/v3/${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
  });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`etcd answers ${path} with ${answer.statusCode}: ${text}`);
  return JSON.parse(text);
}
