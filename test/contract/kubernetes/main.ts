// Holds the contract against an API server of the user's.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Watchdog } from "../../../infra/local/lambda/watchdog.ts";
import { deleteLeftovers } from "./leftovers.ts";
import { CONTRACT_CLUSTER, type ContractClusterFile } from "./named-cluster.ts";
import { plainKubeconfig, UnusableKubeconfig } from "./plain-kubeconfig.ts";
import { assertAdministrator } from "./preflight.ts";

const HELP = `Holds a Kubernetes API server against what Hawser relies on.

  npm run test:contract -- [--kubeconfig FILE [--context NAME]] [options]

  --kubeconfig FILE   of an administrator; without it, the simulated API server is asked
  --context NAME      instead of the current context
  --name PATTERN      only the cases whose names match this regular expression
  --reaches-us        the server reaches this machine's 127.0.0.1, where the cases' webhooks listen (the default when it
                      is on 127.0.0.1 itself)
  --etcd URL          of the etcd below it, which may be compacted
  --clean             run nothing; delete what runs that were cut off have left in the cluster

The cases work in Namespaces and with cluster-wide objects of their own, named contract-..., and delete them. They leave
out, and say so, what needs an etcd to compact or a server that reaches this machine, where there is none.`;

const OPTIONS = {
  kubeconfig: { type: "string" },
  context: { type: "string" },
  name: { type: "string" },
  "reaches-us": { type: "boolean" },
  etcd: { type: "string" },
  clean: { type: "boolean" },
  help: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

/** Runs a test file; all of it ends when this process is interrupted or killed. */
async function run(file: string, name: string | undefined, environment: Readonly<Record<string, string>>, folder = "") {
  const pattern = name === undefined ? [] : [`--test-name-pattern=${name}`];
  const child = spawn(
    process.execPath,
    ["--test", "--test-reporter=spec", ...pattern, join(import.meta.dirname, file)],
    // A group of its own, with the processes below it.
    { stdio: "inherit", detached: true, env: { ...process.env, ...environment } },
  );
  const watchdog = new Watchdog(folder);
  const group = child.pid;
  if (group !== undefined) watchdog.add(group);
  let interrupted = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      interrupted = true;
      if (group !== undefined && child.exitCode === null) process.kill(-group, "SIGKILL");
    });
  }
  const [code] = (await once(child, "exit")) as [number | null];
  if (group !== undefined) watchdog.remove(group);
  await watchdog.stop();
  if (interrupted && folder !== "") console.error("cut off: --clean deletes what is left in the cluster");
  return code ?? 1;
}

async function main(values: Values): Promise<number> {
  if (values.kubeconfig === undefined) return await run("simulated.test.ts", values.name, {});
  const { kubeconfig, server } = await plainKubeconfig(values.kubeconfig, values.context);
  await assertAdministrator(kubeconfig);
  if (values.clean === true) {
    const deleted = await deleteLeftovers(kubeconfig);
    console.log(deleted.length === 0 ? "there was nothing left" : deleted.map((path) => `deleted ${path}`).join("\n"));
    return 0;
  }
  const folder = mkdtempSync(join(tmpdir(), "hawser-contract-"));
  const file = join(folder, "cluster.json");
  const content: ContractClusterFile = {
    name: server.host,
    kubeconfig,
    reachesUs: values["reaches-us"] ?? ["127.0.0.1", "localhost", "[::1]"].includes(server.hostname),
    ...(values.etcd === undefined ? {} : { etcd: values.etcd }),
  };
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  return await run("named.ts", values.name, { [CONTRACT_CLUSTER]: file }, folder);
}

/** The options, or what is wrong with them. */
function read(args: readonly string[]): Values | string {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const values = read(process.argv.slice(2));
if (typeof values === "string") {
  console.error(`${values}\n\n${HELP}`);
  process.exitCode = 2;
} else if (values.help === true) console.log(HELP);
else {
  try {
    process.exitCode = await main(values);
  } catch (error) {
    if (!(error instanceof UnusableKubeconfig)) throw error;
    console.error(error.message);
    process.exitCode = 2;
  }
}
