// Builds the real control plane that tests run on, once: `npm run assets`. Its last line is the folder with the programs.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { assetsCache, assetVersions, missingPrograms, type Program } from "../../infra/local/control-plane/assets.ts";

const HERE = import.meta.dirname;

const PACKAGES: Readonly<Record<Program, string>> = {
  etcd: "go.etcd.io/etcd/server/v3",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
};

const WITHOUT_BUILD = `Or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kube-controller-manager, as Kubernetes' envtest has it.
Where the Go modules cannot be had, Debian's source package of Kubernetes 1.20.2 has all that is needed to build them.`;

/** What `/version` says is stamped in when Kubernetes is built, as its own build does. */
function linkerFlags(version: string): string {
  const [major, minor] = version.slice(1).split(".");
  const stamps = { gitVersion: version, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const settings = Object.entries(stamps).map(([key, value]) => `-X k8s.io/component-base/version.${key}=${value}`);
  return ["-s", "-w", ...settings].join(" ");
}

async function build(program: Program, folder: string, version: string, signal: AbortSignal): Promise<boolean> {
  const began = performance.now();
  console.log(`${program}: building ${PACKAGES[program]}`);
  const child = spawn(
    "go",
    [
      "build",
      "-trimpath",
      "-mod=readonly",
      "-ldflags",
      linkerFlags(version),
      "-o",
      join(folder, program),
      PACKAGES[program],
    ],
    { cwd: HERE, stdio: "inherit", env: { ...process.env, CGO_ENABLED: "0" }, signal },
  );
  // It says nothing for minutes: show that it goes on.
  const told = setInterval(() => console.log(`${program}: ${seconds(began)} s`), 60_000);
  const [code] = (await once(child, "close").catch(() => [null])) as [number | null];
  clearInterval(told);
  console.log(`${program}: ${code === 0 ? "built" : "FAILED"} after ${seconds(began)} s`);
  return code === 0;
}

function seconds(began: number): number {
  return Math.round((performance.now() - began) / 1_000);
}

async function main(): Promise<number> {
  const folder = assetsCache(process.env);
  if (missingPrograms(folder).length === 0) {
    console.log(folder);
    return 0;
  }
  const { kubernetes, etcd } = assetVersions();
  if (spawnSync("go", ["version"]).status !== 0) {
    console.error(
      `Building Kubernetes ${kubernetes} and etcd ${etcd} needs Go 1.26 or newer (https://go.dev/dl/), which is not on the PATH.\n${WITHOUT_BUILD}`,
    );
    return 1;
  }
  console.log(`Kubernetes ${kubernetes}, etcd ${etcd}: ten to fifteen minutes on two cores, once`);
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}.`);
  const ended = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => ended.abort());
  try {
    for (const program of Object.keys(PACKAGES) as Program[]) {
      if (!(await build(program, unfinished, kubernetes, ended.signal))) {
        if (!ended.signal.aborted) console.error(`${program} could not be built.\n${WITHOUT_BUILD}`);
        return 1;
      }
    }
    // Another build may have been faster; an incomplete folder is replaced.
    if (missingPrograms(folder).length > 0) {
      if (existsSync(folder)) rmSync(folder, { recursive: true });
      renameSync(unfinished, folder);
    }
    console.log(folder);
    return 0;
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

process.exitCode = await main();
