import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { systemClock } from "../../../lib/base/clock.ts";
import { systemRandom } from "../../../lib/base/random.ts";
import { type FaultsControl, startFaultsControl } from "./faults/faults-control.ts";
import { startSimulatedCluster } from "./simulated-cluster.ts";

const HELP = `A simulated Kubernetes API server as a process of its own.

  node infra/local/cluster/main.ts --kubeconfig OUT.yaml [options]

  --name NAME          name of the cluster (default: simulated)
  --port PORT          port on 127.0.0.1 (default: 0, any free one)
  --kubeconfig FILE    where the administrator's kubeconfig is written (mode 0600)
  --manifest PATH      YAML file, or folder of them, applied at the start; may be given more than once
  --control            open a control endpoint for faults and the request log on 127.0.0.1
  --help               this text

Prints one line of JSON when it is ready and ends on SIGTERM or SIGINT with exit code 0.`;

interface Arguments {
  readonly name: string;
  readonly port: number;
  readonly kubeconfig: string;
  readonly manifest: readonly string[];
  readonly control: boolean;
}

/** The arguments, or what is wrong with them. */
function readArguments(argv: readonly string[]): Arguments | "help" | { readonly mistake: string } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        name: { type: "string", default: "simulated" },
        port: { type: "string", default: "0" },
        kubeconfig: { type: "string" },
        manifest: { type: "string", multiple: true, default: [] },
        control: { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    });
    if (values.help) return "help";
    const { kubeconfig } = values;
    if (kubeconfig === undefined) return { mistake: "--kubeconfig FILE must be given" };
    const port = Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65_535) return { mistake: `--port ${values.port} is no port` };
    return { ...values, kubeconfig, port };
  } catch (error) {
    return { mistake: error instanceof Error ? error.message : String(error) };
  }
}

/** The YAML texts of a file or, in the order of their names, of a folder. */
async function readManifestFiles(path: string): Promise<readonly string[]> {
  if (!(await stat(path)).isDirectory()) return [await readFile(path, "utf8")];
  const names = (await readdir(path)).filter((n) => /\.(ya?ml|json)$/.test(n)).toSorted();
  return Promise.all(names.map((name) => readFile(join(path, name), "utf8")));
}

async function run(args: Arguments): Promise<void> {
  const manifests = (await Promise.all(args.manifest.map(readManifestFiles))).flat();
  const cluster = await startSimulatedCluster({
    name: args.name,
    port: args.port,
    clock: systemClock,
    random: systemRandom,
    manifests,
    onBug: (error) => console.error(error),
  });
  const control: FaultsControl | undefined = args.control ? await startFaultsControl(cluster) : undefined;
  await writeFile(args.kubeconfig, cluster.adminKubeconfig(), { mode: 0o600 });
  const ready = { event: "ready", cluster: args.name, server: cluster.url, kubeconfig: args.kubeconfig };
  console.log(JSON.stringify({ ...ready, ...(control === undefined ? {} : { control: control.url }) }));
  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
  await control?.close();
  await cluster.stop();
}

const args = readArguments(process.argv.slice(2));
if (args === "help") console.log(HELP);
else if ("mistake" in args) {
  console.error(`${args.mistake}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  await run(args);
}
