import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../infra/cli/main.ts", import.meta.url));

/** A test that fails leaves no world behind. */
const running = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** What a finished command left. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the `hawser` command to its end. */
export async function hawser(...args: string[]): Promise<Finished> {
  return await new HawserProcess(args).finished;
}

/** A `hawser` command that runs, and the JSON lines that it prints. */
export class HawserProcess {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  readonly lines: Record<string, unknown>[] = [];
  readonly #waiting = new Set<() => void>();
  #stdout = "";
  #stderr = "";

  constructor(args: readonly string[]) {
    this.child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    running.add(this.child);
    this.child.once("exit", () => running.delete(this.child));
    this.child.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr += chunk.toString("utf8");
    });
    if (this.child.stdout !== null) {
      createInterface({ input: this.child.stdout }).on("line", (line) => this.#take(line));
    }
    this.finished = once(this.child, "close").then(([code]) => {
      for (const wake of this.#waiting) wake();
      return { code: code as number | null, stdout: this.#stdout, stderr: this.#stderr };
    });
  }

  /** Resolves with the first `count` lines that fit, as soon as they are there; rejects when the process ends before. */
  async until(fits: (line: Record<string, unknown>) => boolean, count = 1): Promise<Record<string, unknown>[]> {
    for (;;) {
      const found = this.lines.filter(fits);
      if (found.length >= count) return found.slice(0, count);
      if (this.child.exitCode !== null) throw new Error(`hawser ended with ${this.child.exitCode}: ${this.#stderr}`);
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
  }

  #take(line: string): void {
    this.#stdout += `${line}\n`;
    if (line.startsWith("{") && line.endsWith("}")) this.lines.push(JSON.parse(line) as Record<string, unknown>);
    for (const wake of this.#waiting) wake();
  }
}
