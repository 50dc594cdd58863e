import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

// Each line is the whole list of process groups. The end of the input is the death of the writer.
const KILL = 'while read -r line; do groups=$line; done; for group in $groups; do kill -s KILL -- "-$group"; done';
const REMOVE = '[ -z "$1" ] || rm -rf -- "$1"';

/**
 * Kills processes that were started when this one dies in a way that lets it do nothing more (SIGKILL). A frozen
 * execution environment cannot notice that by itself, an API server does not care: both would be left for ever.
 */
export class Watchdog {
  readonly #process: ChildProcess;
  readonly #groups = new Set<number>();

  /** @param folder is removed with the last of them */
  constructor(folder = "") {
    const script = `${KILL}; ${REMOVE}`;
    // In a session of its own: Ctrl-C in the terminal must not end it before its time.
    this.#process = spawn("/bin/sh", ["-c", script, "watchdog", folder], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: {},
    });
    // An error here means that it has gone; what it would do is then not done, and nothing else can be.
    this.#process.stdin?.on("error", () => {});
  }

  /** Watches over a process group. */
  add(group: number): void {
    this.#groups.add(group);
    this.#tell();
  }

  /** The group has ended. */
  remove(group: number): void {
    this.#groups.delete(group);
    this.#tell();
  }

  /** Ends it; the groups that are left are killed. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.stdin?.end();
    await ended;
  }

  #tell(): void {
    if (this.#process.stdin?.writable === true) this.#process.stdin.write(`${[...this.#groups].join(" ")}\n`);
  }
}
