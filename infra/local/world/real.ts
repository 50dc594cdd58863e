import { readFileSync } from "node:fs";
import type { Clock } from "../../../lib/base/clock.ts";
import { ApiClient, type ApiRecord } from "../api-client/api-client.ts";
import { createCertificateAuthority } from "../cluster/certificates.ts";
import { type Leader, startLeader } from "../leader/leader.ts";
import { paths } from "../leader/resources.ts";
import { type BeatLedger, beatsFromWatch } from "./beats.ts";
import type { ClusterWorld, WorldMember } from "./cluster-world.ts";
import { readWorldConfig, type WorldConfig } from "./config-file.ts";
import { ManifestError } from "./manifests.ts";

/** A leader calls a member connected for this long after its last announce, in milliseconds. */
const CONNECTED_MS = 30_000;

/** What real clusters need. */
export interface RealOptions {
  readonly configFile: string;
  readonly clock: Clock;
  readonly ledger: BeatLedger;
  readonly progress: (message: string) => void;
}

/** Uses clusters that run already, by their kubeconfigs; changes nothing in them but what Hawser itself does. */
export async function useRealClusters(options: RealOptions): Promise<ClusterWorld> {
  const { clock, ledger } = options;
  const config = readWorldConfig(options.configFile);
  const kubeconfig = readKubeconfig(config.leader.kubeconfig, "leader.kubeconfig");
  const client = new ApiClient(kubeconfig, config.leader.context);
  const ended = new AbortController();
  let leader: Leader | undefined;
  let watching: Promise<void> = Promise.resolve();
  const stop = async (): Promise<void> => {
    ended.abort();
    await leader?.stop();
    await client.close();
    await watching;
  };
  try {
    if (config.leader.simulatedController) leader = await startController(config, kubeconfig, clock);
    watching = beatsFromWatch(client, config.leader.namespace, ledger, clock, ended.signal);
    options.progress(`leader: ${client.server}`);
    const members: WorldMember[] = [];
    for (const [index, member] of config.members.entries()) {
      members.push(await readMember(member, `members[${index}]`));
      options.progress(`member ${member.cluster}: ${member.kubeconfig}`);
    }
    const isConnected = (member: WorldMember): boolean =>
      clock.now().getTime() - (ledger.of(member.announce).at(-1) ?? 0) <= CONNECTED_MS;
    return { members, isConnected, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startController(config: WorldConfig, kubeconfig: string, clock: Clock): Promise<Leader> {
  const authority = await createCertificateAuthority("hawser-leader-webhook", clock);
  const tls = await authority.issueServer(["127.0.0.1"]);
  return await startLeader({
    kubeconfig,
    ...(config.leader.context === undefined ? {} : { context: config.leader.context }),
    namespace: config.leader.namespace,
    clock,
    webhookTls: { ...tls, ca: authority.caPem },
  });
}

/** The member's announce is named after its cluster ID, which only its ClusterSet knows. */
async function readMember(member: WorldConfig["members"][number], path: string): Promise<WorldMember> {
  const kubeconfig = readKubeconfig(member.kubeconfig, `${path}.kubeconfig`);
  const client = new ApiClient(kubeconfig, member.context);
  try {
    const clusterSets = await listClusterSets(client, member.namespace, path);
    const clusterSet = clusterSets.find(
      (c) => member.clusterSet === undefined || c.metadata.name === member.clusterSet,
    );
    const clusterId = (clusterSet?.["spec"] as { clusterID?: string } | undefined)?.clusterID;
    if (clusterId === undefined) {
      throw new ManifestError([
        {
          path,
          problem: `cluster ${member.cluster} has no ClusterSet ${member.clusterSet ?? ""} in Namespace ${member.namespace}`,
          remedy: "Apply a ClusterSet and its token Secret there, or name the right Namespace",
        },
      ]);
    }
    return {
      cluster: member.cluster,
      protocol: "antrea",
      announce: `member-announce-from-${clusterId}`,
      kubeconfig,
      ...(member.context === undefined ? {} : { context: member.context }),
      antrea: {
        namespace: member.namespace,
        ...(member.clusterSet === undefined ? {} : { clusterSet: member.clusterSet }),
      },
    };
  } finally {
    await client.close();
  }
}

async function listClusterSets(client: ApiClient, namespace: string, path: string): Promise<readonly ApiRecord[]> {
  let problem: string;
  try {
    const answer = await client.request("GET", paths.clusterSets(namespace));
    if (answer.code === 200) return answer.body.items ?? [];
    problem = `the API server answers ${answer.code}: ${answer.body.message ?? ""}`;
  } catch (error) {
    problem = `the API server cannot be reached: ${error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error.message) : ""}`;
  }
  throw new ManifestError([
    {
      path,
      problem: `${problem} (list ClusterSets at ${client.server})`,
      remedy: "Look at the kubeconfig and its rights",
    },
  ]);
}

function readKubeconfig(file: string, path: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ManifestError([
      {
        path,
        problem: `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`,
        remedy: "Name a kubeconfig file",
      },
    ]);
  }
}
