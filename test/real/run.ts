// Runs the tests that need real Kubernetes API servers, one file after the other on one world of four clusters.
// `--help` tells how to name other clusters.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, globSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, extname, join } from "node:path";
import { parseArgs } from "node:util";
import { AssetsError, findAssets } from "../../infra/local/control-plane/assets.ts";
import { type ControlPlane, startControlPlane } from "../../infra/local/control-plane/control-plane.ts";
import { Watchdog } from "../../infra/local/lambda/watchdog.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { CLUSTERS_FILE, type ClustersFile, writeClustersFile } from "./clusters-under-test.ts";

const HELP = `Runs tests on real Kubernetes API servers.

  npm run test:real -- [options] [test files]

  --kubeconfig FILE   an administrator's kubeconfig of a cluster to run on, instead of ones that are started for it;
                      four times: leader, member, member, and one for the contract (without it, the second member is
                      asked). The tests write into them and delete what they wrote. The variable
                      HAWSER_TEST_KUBECONFIGS=FILE${delimiter}FILE${delimiter}FILE does the same.
  --limit MINUTES     how long all of it may take (default: 15)

The programs come from the folder in KUBEBUILDER_ASSETS, else from that of "npm run assets".`;

const NAMES = ["north", "east", "west", "contract"];

interface Settings {
  readonly files: readonly string[];
  readonly kubeconfigs: readonly string[];
  readonly limitMs: number;
}

function readSettings(argv: readonly string[]): Settings | "help" {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      kubeconfig: { type: "string", multiple: true, default: [] },
      limit: { type: "string", default: "15" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const fromEnvironment = (process.env["HAWSER_TEST_KUBECONFIGS"] ?? "").split(delimiter).filter((f) => f !== "");
  return {
    files: globSync(positionals.length === 0 ? "test/**/*.real.ts" : positionals).toSorted(),
    kubeconfigs: values.kubeconfig.length > 0 ? values.kubeconfig : fromEnvironment,
    limitMs: Number(values.limit) * 60_000,
  };
}

/** The clusters that the user has named. */
function namedClusters(files: readonly string[]): ClustersFile {
  const clusters = files.map((file) => ({
    name: basename(file, extname(file)),
    adminKubeconfig: readFileSync(file, "utf8"),
  }));
  return { clusters };
}

function startedClusters({ clusters, etcd }: ControlPlane): ClustersFile {
  const described = clusters.map((c) => ({ name: c.name, adminKubeconfig: c.adminKubeconfig() }));
  return { clusters: described, etcd };
}

interface TestRun {
  readonly files: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** File for the report by which tests are counted. */
  readonly report: string;
  readonly watchdog: Watchdog;
}

/** Runs the files; true when all of their tests ran and passed. */
async function runTests({ files, environment, report, watchdog }: TestRun, signal: AbortSignal): Promise<boolean> {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      "--test",
      "--test-concurrency=1",
      "--test-reporter=spec",
      "--test-reporter-destination=stdout",
      "--test-reporter=tap",
      `--test-reporter-destination=${report}`,
      ...files,
    ],
    // A group of its own: a file that hangs is a process below this one, and is killed with it.
    { stdio: "inherit", detached: true, env: { ...process.env, ...environment } },
  );
  if (child.pid !== undefined) watchdog.add(child.pid);
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  signal.addEventListener("abort", kill);
  const [code] = (await once(child, "exit")) as [number | null];
  signal.removeEventListener("abort", kill);
  if (child.pid !== undefined) watchdog.remove(child.pid);
  if (code !== 0) return false;
  const notRun = [...readFileSync(report, "utf8").matchAll(/^# (skipped|todo|cancelled) ([1-9]\d*)$/gm)];
  for (const [, how, count] of notRun) console.error(`${count} tests were ${how}: what is not run proves nothing`);
  return notRun.length === 0;
}

/** Keeps the logs of a control plane on which tests have failed: they end with it otherwise. */
function keepLogs(controlPlane: ControlPlane): void {
  const folder = mkdtempSync(join(tmpdir(), "hawser-test-real-logs-"));
  for (const [name, { logFile }] of controlPlane.processes) {
    copyFileSync(logFile, join(folder, `${name.replace(" ", "-")}.log`));
  }
  console.log(`The logs of the control plane are in ${folder}`);
}

async function main(settings: Settings): Promise<number> {
  if (settings.files.length === 0) throw new Error("there is no test of that name");
  const ended = new AbortController();
  const limit = setTimeout(() => {
    console.error(`not done after ${settings.limitMs / 60_000} minutes: ended`);
    ended.abort();
  }, settings.limitMs);
  let interrupted = false;
  const interrupt = (): void => {
    interrupted = true;
    ended.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
  const folder = mkdtempSync(join(tmpdir(), "hawser-test-real-"));
  // When this process is killed, neither the tests nor the kubeconfigs are left.
  const watchdog = new Watchdog(folder);
  const began = performance.now();
  let controlPlane: ControlPlane | undefined;
  try {
    if (settings.kubeconfigs.length === 0) {
      controlPlane = await startControlPlane({
        assets: findAssets(process.env),
        clusters: settings.files.some((file) => file.startsWith("test/real/")) ? NAMES : NAMES.slice(-1),
        clock: systemClock,
        progress: (message) => console.log(message),
        signal: ended.signal,
      });
    }
    const content = controlPlane === undefined ? namedClusters(settings.kubeconfigs) : startedClusters(controlPlane);
    const environment = { [CLUSTERS_FILE]: writeClustersFile(folder, content) };
    const run = { files: settings.files, environment, report: join(folder, "report.tap"), watchdog };
    const passed = await runTests(run, ended.signal);
    if (!passed && !interrupted && controlPlane !== undefined) keepLogs(controlPlane);
    console.log(`${passed ? "passed" : "FAILED"} after ${Math.round((performance.now() - began) / 1_000)} s`);
    return passed ? 0 : 1;
  } catch (error) {
    if (ended.signal.aborted) return 1;
    if (!(error instanceof AssetsError)) throw error;
    console.error(error.message);
    return 1;
  } finally {
    clearTimeout(limit);
    await controlPlane?.stop();
    await watchdog.stop();
  }
}

/** The settings, or what is wrong with the arguments. */
function tryToRead(argv: readonly string[]): Settings | "help" | { readonly problem: string } {
  try {
    return readSettings(argv);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

const settings = tryToRead(process.argv.slice(2));
if (settings === "help") console.log(HELP);
else if ("problem" in settings) {
  console.error(`${settings.problem}\n\n${HELP}`);
  process.exitCode = 2;
} else process.exitCode = await main(settings);
