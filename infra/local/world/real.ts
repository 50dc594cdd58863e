import { readFileSync } from "node:fs";
import type { Clock } from "../../../lib/base/clock.ts";
import { type ApiAnswer, ApiClient, type ApiRecord } from "../api-client/api-client.ts";
import { createCertificateAuthority } from "../cluster/certificates.ts";
import { type Leader, startLeader } from "../leader/leader.ts";
import { paths } from "../leader/resources.ts";
import { type BeatLedger, beatsFromWatch } from "./beats.ts";
import type { ClusterWorld, WorldMember } from "./cluster-world.ts";
import { readWorldConfig, type WorldConfig } from "./config-file.ts";
import { controllerKubeconfig } from "./controller-identity.ts";
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

/**
 * Uses clusters that run already, by their kubeconfigs; changes nothing in them but what Hawser itself does.
 * @throws ManifestError for what the user can mend
 */
export async function useRealClusters(options: RealOptions): Promise<ClusterWorld> {
  const { clock, ledger } = options;
  const config = readWorldConfig(options.configFile);
  const { namespace, context } = config.leader;
  const kubeconfig = readKubeconfig(config.leader.kubeconfig, "leader.kubeconfig");
  const client = clientFor(kubeconfig, context, "leader");
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
    await list(client, paths.announces(namespace), "leader");
    options.progress(`leader: ${client.server}`);
    const members: WorldMember[] = [];
    for (const [index, member] of config.members.entries()) {
      members.push(await readMember(member, `members[${index}]`));
      options.progress(`member ${member.cluster}: ${member.kubeconfig}`);
    }
    // Last of all: it changes the leader.
    if (config.leader.simulatedController) leader = await startController(config, kubeconfig, clock);
    watching = beatsFromWatch(client, namespace, ledger, clock, ended.signal);
    const isConnected = (member: WorldMember): boolean =>
      clock.now().getTime() - (ledger.of(member.announce).at(-1) ?? 0) <= CONNECTED_MS;
    return { members, isConnected, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startController(config: WorldConfig, kubeconfig: string, clock: Clock): Promise<Leader> {
  const { context, namespace } = config.leader;
  const authority = await createCertificateAuthority("hawser-leader-webhook", clock);
  const tls = await authority.issueServer(["127.0.0.1"]);
  try {
    return await startLeader({
      kubeconfig: await controllerKubeconfig(kubeconfig, context, namespace),
      namespace,
      clock,
      webhookTls: { ...tls, ca: authority.caPem },
    });
  } catch (error) {
    throw refusal(
      "leader.simulatedController",
      `the simulated leader cannot be set up: ${reasonOf(error)}`,
      `Give an administrator's kubeconfig of a cluster with the Namespace ${namespace}, or leave it out`,
    );
  }
}

/** The member's announce is named after its cluster ID, which only its ClusterSet knows. */
async function readMember(member: WorldConfig["members"][number], path: string): Promise<WorldMember> {
  const kubeconfig = readKubeconfig(member.kubeconfig, `${path}.kubeconfig`);
  const client = clientFor(kubeconfig, member.context, path);
  try {
    const clusterSets = await list(client, paths.clusterSets(member.namespace), path);
    const clusterSet = clusterSets.find(
      (c) => member.clusterSet === undefined || c.metadata.name === member.clusterSet,
    );
    const clusterId = (clusterSet?.["spec"] as { clusterID?: string } | undefined)?.clusterID;
    if (clusterId === undefined) {
      const wanted = member.clusterSet === undefined ? "ClusterSet" : `ClusterSet "${member.clusterSet}"`;
      throw refusal(
        path,
        `cluster ${member.cluster} has no ${wanted} in Namespace ${member.namespace}`,
        "Apply a ClusterSet and its token Secret there, or name the right Namespace",
      );
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

async function list(client: ApiClient, path: string, field: string): Promise<readonly ApiRecord[]> {
  const what = `list ${path} at ${client.server}`;
  let answer: ApiAnswer;
  try {
    answer = await client.request("GET", path);
  } catch (error) {
    throw refusal(field, `the API server cannot be reached: ${reasonOf(error)} (${what})`, "Look at the kubeconfig");
  }
  if (answer.code === 200) return answer.body.items ?? [];
  const problem = `the API server answers ${answer.code}: ${answer.body.message ?? ""} (${what})`;
  throw refusal(
    field,
    problem,
    "Look at the kubeconfig's rights, and whether Antrea's definitions are installed there",
  );
}

function clientFor(kubeconfig: string, context: string | undefined, field: string): ApiClient {
  try {
    return new ApiClient(kubeconfig, context);
  } catch (error) {
    throw refusal(`${field}.kubeconfig`, reasonOf(error), "Name another kubeconfig or context");
  }
}

function readKubeconfig(file: string, path: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refusal(path, `${file} cannot be read (${code})`, "Name a kubeconfig file");
  }
}

function refusal(path: string, problem: string, remedy: string): ManifestError {
  return new ManifestError([{ path, problem, remedy }]);
}

/** What an error says, without its stack; a network error says more in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = error instanceof AggregateError ? error.errors.map(reasonOf).join(", ") : error.message;
  return said === "" && error.cause instanceof Error ? reasonOf(error.cause) : said;
}
