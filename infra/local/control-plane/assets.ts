import { accessSync, constants, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const GO_MODULE = fileURLToPath(new URL("../../../test/assets/go.mod", import.meta.url));

/** The programs of a control plane, by the names that Kubernetes' envtest gives them. */
export const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager"] as const;

/** One of them. */
export type Program = (typeof PROGRAMS)[number];

/** No control plane can be started on this machine, for a reason that the user can mend. */
export class AssetsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "AssetsError";
  }
}

/** The versions that `npm run assets` builds, such as `v1.37.2` and `v3.7.0`: those of the Go module. */
export function assetVersions(): { readonly kubernetes: string; readonly etcd: string } {
  const text = readFileSync(GO_MODULE, "utf8");
  const version = (module: string): string => {
    const found = new RegExp(`^\\s*${module.replaceAll(".", "\\.")} (v\\S+)`, "m").exec(text)?.[1];
    if (found === undefined) throw new Error(`${GO_MODULE} requires no ${module}`);
    return found;
  };
  return { kubernetes: version("k8s.io/kubernetes"), etcd: version("go.etcd.io/etcd/server/v3") };
}

/** Where `npm run assets` puts the programs: a folder outside the checkout, named by their versions. */
export function assetsCache(environment: NodeJS.ProcessEnv): string {
  const cache = environment["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const { kubernetes, etcd } = assetVersions();
  const platform = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`;
  return join(cache, "hawser-assets", `kubernetes-${kubernetes}-etcd-${etcd}-${platform}`);
}

/** Which of the programs a folder lacks. */
export function missingPrograms(folder: string): readonly Program[] {
  return PROGRAMS.filter((program) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return false;
    } catch {
      return true;
    }
  });
}

/**
 * The folder with the programs: KUBEBUILDER_ASSETS where it is set, else that of `npm run assets`.
 * @throws AssetsError that says what to do
 */
export function findAssets(environment: NodeJS.ProcessEnv): string {
  const given = environment["KUBEBUILDER_ASSETS"];
  const folder = given || assetsCache(environment);
  const missing = missingPrograms(folder);
  if (missing.length === 0) return folder;
  throw new AssetsError(
    given
      ? `KUBEBUILDER_ASSETS names ${folder}, which has no ${missing.join(", ")}. Name a folder with ${PROGRAMS.join(", ")}`
      : `No control plane on this machine: ${folder} has no ${missing.join(", ")}. Build it with "npm run assets", or set KUBEBUILDER_ASSETS to a folder with ${PROGRAMS.join(", ")}`,
  );
}
