// Holds the contract against an API server of the user's.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
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

The cases work in Namespaces and with cluster-wide objects of their own, named contract-..., and delete them. They leave
out, and say so, what needs an etcd to compact or a server that reaches this machine, where there is none.`;

const OPTIONS = {
  kubeconfig: { type: "string" },
  context: { type: "string" },
  name: { type: "string" },
  "reaches-us": { type: "boolean" },
  etcd: { type: "string" },
  help: { type: "boolean" },
} as const;

type Values = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"];

async function run(file: string, name: string | undefined, environment: Readonly<Record<string, string>>) {
  const pattern = name === undefined ? [] : [`--test-name-pattern=${name}`];
  const child = spawn(
    process.execPath,
    ["--test", "--test-reporter=spec", ...pattern, join(import.meta.dirname, file)],
    { stdio: "inherit", env: { ...process.env, ...environment } },
  );
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

async function main(values: Values): Promise<number> {
  if (values.kubeconfig === undefined) return await run("simulated.test.ts", values.name, {});
  const { kubeconfig, server } = await plainKubeconfig(values.kubeconfig, values.context);
  await assertAdministrator(kubeconfig);
  const folder = mkdtempSync(join(tmpdir(), "hawser-contract-"));
  // On an interrupt the runner ends, and this one behind it: the credential must not stay.
  process.on("SIGINT", () => {});
  try {
    const file = join(folder, "cluster.json");
    const content: ContractClusterFile = {
      name: server.host,
      kubeconfig,
      reachesUs: values["reaches-us"] ?? ["127.0.0.1", "localhost", "[::1]"].includes(server.hostname),
      ...(values.etcd === undefined ? {} : { etcd: values.etcd }),
    };
    writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
    return await run("named.ts", values.name, { [CONTRACT_CLUSTER]: file });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
