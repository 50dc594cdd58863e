import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type ApiAnswer, ApiClient } from "../../infra/local/api-client/api-client.ts";
import { kubeconfigYaml } from "../../infra/local/cluster/kubeconfig.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const MAIN = `${ROOT}infra/local/cluster/main.ts`;
const GROUP = "multicluster.crd.antrea.io";
/** The common area. */
export const AREA = "antrea-multicluster";

/** An API server in a process of its own, and its administrator. */
export class StandaloneCluster {
  readonly name: string;
  readonly server: string;
  /** File with the administrator's kubeconfig. */
  readonly adminFile: string;
  readonly admin: ApiClient;
  readonly #process: ChildProcess;

  private constructor(name: string, server: string, adminFile: string, child: ChildProcess) {
    this.name = name;
    this.server = server;
    this.adminFile = adminFile;
    this.admin = new ApiClient(readFileSync(adminFile, "utf8"));
    this.#process = child;
  }

  /** @param manifests files and folders of this repository, or of `folder`, that are applied at the start */
  static async start(folder: string, name: string, manifests: readonly string[]): Promise<StandaloneCluster> {
    const adminFile = join(folder, `${name}.admin.yaml`);
    const args = manifests.flatMap((path) => ["--manifest", path]);
    const child = spawn(process.execPath, [MAIN, "--name", name, "--kubeconfig", adminFile, ...args], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    // A test that fails leaves no cluster behind.
    process.once("exit", () => child.kill("SIGKILL"));
    const line = await firstLine(child);
    const { server } = JSON.parse(line) as { server: string };
    return new StandaloneCluster(name, server, adminFile, child);
  }

  /** Applies one object as the administrator. */
  async create(path: string, object: object): Promise<ApiAnswer> {
    const answer = await this.admin.request("POST", path, object);
    if (answer.code !== 201)
      throw new Error(`create ${path} in ${this.name}: ${answer.code} ${answer.body.message ?? ""}`);
    return answer;
  }

  /** What a ServiceAccount's token Secret holds, base64. */
  async tokenSecret(namespace: string, name: string): Promise<{ readonly token: string; readonly "ca.crt": string }> {
    const { body } = await this.admin.request("GET", `/api/v1/namespaces/${namespace}/secrets/${name}`);
    return body["data"] as { token: string; "ca.crt": string };
  }

  /** Writes a kubeconfig that holds the token of a ServiceAccount's Secret. */
  async kubeconfigFrom(file: string, namespace: string, secret: string): Promise<string> {
    const data = await this.tokenSecret(namespace, secret);
    const plain = (text: string): string => Buffer.from(text, "base64").toString("utf8");
    const text = kubeconfigYaml({
      cluster: this.name,
      server: this.server,
      caPem: plain(data["ca.crt"]),
      user: secret,
      credential: { token: plain(data.token) },
    });
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  /** Ends it; answers the exit code. */
  async stop(): Promise<number | null> {
    await this.admin.close();
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    const [code] = (await ended) as [number | null];
    return code;
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no standard output");
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return line;
}

/** Starts a leader with the identities of its members, as a user would furnish it. */
export async function startLeaderCluster(folder: string, members: readonly string[]): Promise<StandaloneCluster> {
  const member = readFileSync(`${ROOT}infra/kubernetes/leader/member.yaml`, "utf8");
  const files = members.map((id) => {
    const file = join(folder, `member-${id}.yaml`);
    writeFileSync(file, member.replaceAll("member-east", `member-${id}`).replaceAll(": east", `: ${id}`));
    return file;
  });
  return await StandaloneCluster.start(folder, "north", [
    "infra/kubernetes/crds",
    "infra/local/manifests/leader",
    "infra/kubernetes/leader/member-role.yaml",
    ...files,
  ]);
}

/** Starts a member, without anything that ties it to a leader. */
export async function startMemberCluster(folder: string, id: string): Promise<StandaloneCluster> {
  const hawser = readFileSync(`${ROOT}infra/kubernetes/member/hawser.yaml`, "utf8");
  const file = join(folder, `hawser-in-${id}.yaml`);
  writeFileSync(file, hawser.replaceAll("member-east-token", `member-${id}-token`));
  return await StandaloneCluster.start(folder, id, ["infra/kubernetes/crds", file]);
}

/** Brings a member what Antrea's guide asks for: the token Secret out of the leader, and a ClusterSet. */
export async function tie(member: StandaloneCluster, leader: StandaloneCluster): Promise<void> {
  const secret = `member-${member.name}-token`;
  const metadata = { namespace: "kube-system" };
  const data = await leader.tokenSecret(AREA, secret);
  await member.create("/api/v1/namespaces/kube-system/secrets", {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...metadata, name: secret },
    type: "Opaque",
    data: { "ca.crt": data["ca.crt"], token: data.token },
  });
  await member.create(`/apis/${GROUP}/v1alpha2/namespaces/kube-system/clustersets`, {
    apiVersion: `${GROUP}/v1alpha2`,
    kind: "ClusterSet",
    metadata: { ...metadata, name: "test-clusterset" },
    spec: {
      clusterID: member.name,
      leaders: [{ clusterID: "north", secret, server: leader.server }],
      namespace: AREA,
    },
  });
}
