import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** What a running local world tells the command line: where its services are. No secret is in it. */
export interface LocalWorldState {
  readonly pid: number;
  readonly region: string;
  readonly stage: string;
  readonly table: string;
  readonly functionPrefix: string;
  readonly endpoints: {
    readonly dynamodb: string;
    readonly lambda: string;
    readonly scheduler: string;
    readonly ssm: string;
  };
  /** Member -> file with the kubeconfig that Hawser uses there. */
  readonly kubeconfigs: Readonly<Record<string, string>>;
}

const FILE = "local.json";

/** The folder of the local world: the given one, else `.hawser` in the current folder. */
export function dataFolder(given: string | undefined): string {
  return resolve(given ?? ".hawser");
}

/** What runs in that folder now; undefined where nothing does, also when the file was left behind. */
export function readLocalWorld(folder: string): LocalWorldState | undefined {
  let state: LocalWorldState;
  try {
    state = JSON.parse(readFileSync(join(folder, FILE), "utf8")) as LocalWorldState;
  } catch {
    return undefined;
  }
  return isAlive(state.pid) ? state : undefined;
}

/** Tells the command line that a world runs. */
export function writeLocalWorld(folder: string, state: LocalWorldState): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, FILE), `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
}

/** The world has ended. */
export function removeLocalWorld(folder: string): void {
  rmSync(join(folder, FILE), { force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
