import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, closeSync, constants, openSync, readFileSync } from "node:fs";
import { Writable } from "node:stream";
import type { Clock } from "../../../lib/base/clock.ts";
import type { Watchdog } from "../lambda/watchdog.ts";

/** How often readiness is asked for, in milliseconds. */
const LOOK_MS = 100;

/** How long a program may take until it is ready, in milliseconds: four of them start together on two cores. */
const READY_LIMIT_MS = 120_000;

/**
 * The program begins when it is told that it is watched over, and not at all when who would tell it has died: killed
 * between the two, we would leave it for ever.
 */
const ONCE_WATCHED = 'read -r go <&3 && exec "$@" 3<&-';

function unusable(program: string): Error | undefined {
  try {
    accessSync(program, constants.X_OK);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** What a program of the control plane is started with. */
export interface ChildOptions {
  /** Path of the program. */
  readonly program: string;
  readonly args: readonly string[];
  /** Both of its outputs go there. */
  readonly logFile: string;
  readonly watchdog: Watchdog;
}

/** A program of the control plane, in a process group of its own. */
export class Child {
  readonly #options: ChildOptions;
  readonly #process: ChildProcess;
  #failure: Error | undefined;

  constructor(options: ChildOptions) {
    this.#options = options;
    const log = openSync(options.logFile, "a", 0o600);
    // Its own group: Ctrl-C in the terminal is for us, who end it. No environment: neither proxies nor settings of the
    // user's shell are meant for it.
    this.#process = spawn("/bin/sh", ["-c", ONCE_WATCHED, "sh", options.program, ...options.args], {
      detached: true,
      stdio: ["ignore", log, log, "pipe"],
      env: {},
    });
    closeSync(log);
    this.#process.on("error", (error) => {
      this.#failure = error;
    });
    this.#failure = unusable(options.program);
    if (this.#process.pid !== undefined) options.watchdog.add(this.#process.pid);
    const go = this.#process.stdio[3];
    // One that has ended already needs no word any more.
    go?.on("error", () => {});
    if (go instanceof Writable) go.end("go\n");
  }

  /** Undefined where it could not be started. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /**
   * Waits until `isReady` says so; an error of its call means "not yet".
   * @throws when the program ends first, when it takes too long, or when the signal fires; with the end of its log
   */
  async untilReady(isReady: () => Promise<boolean>, clock: Clock, signal: AbortSignal): Promise<void> {
    const limit = clock.monotonicMs() + READY_LIMIT_MS;
    for (;;) {
      signal.throwIfAborted();
      if (this.#failure !== undefined) throw new Error(`${this.#options.program}: ${this.#failure.message}`);
      if (this.#hasEnded()) throw new Error(this.#describe("ended before it was ready"));
      if (await isReady().catch(() => false)) return;
      if (clock.monotonicMs() > limit) throw new Error(this.#describe(`not ready after ${READY_LIMIT_MS / 1_000} s`));
      await clock.sleep(LOOK_MS, signal);
    }
  }

  /** Whether it ended because another process had taken its port. */
  lostItsPort(): boolean {
    return this.#hasEnded() && this.logTail(40).includes("address already in use");
  }

  /** Everything that it has said. */
  get logFile(): string {
    return this.#options.logFile;
  }

  /** The last lines of its log. */
  logTail(lines = 15): string {
    return readFileSync(this.#options.logFile, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
  }

  /** Kills it. Nothing that it holds is kept, so that it need not say goodbye. */
  async stop(): Promise<void> {
    const { pid } = this.#process;
    if (pid === undefined) return;
    if (!this.#hasEnded()) {
      const ended = once(this.#process, "exit");
      process.kill(-pid, "SIGKILL");
      await ended;
    }
    this.#options.watchdog.remove(pid);
  }

  #hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  #describe(what: string): string {
    const { program, logFile } = this.#options;
    return `${program} ${what}. The end of ${logFile}:\n${this.logTail()}`;
  }
}
