import { open } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { CredentialError } from "./errors.ts";
import { codeOf, fileProblem } from "./file.ts";
import type { CredentialStore } from "./store.ts";

/** Where a kubeconfig lies: a file of this machine or an SSM parameter. */
export type KubeconfigLocation = { readonly file: string } | { readonly ssm: string };

/** How kubeconfigs are read. */
export interface KubeconfigReaderOptions {
  readonly clock: Clock;
  /** Reads SSM parameters. */
  readonly parameters: Pick<CredentialStore, "read">;
  /** Whether files may be named: on one's own machine, never in a deployed function. */
  readonly fileAccess: boolean;
  /** How long a text is kept in memory, in milliseconds; a changed one is noticed after it. Absent: five minutes. */
  readonly keptMs?: number;
  /** How many texts are kept at most. Absent: 1,000, those of a whole shard. */
  readonly keptCount?: number;
}

/** Far more than any kubeconfig; keeps a wrong file name from filling the memory. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads kubeconfigs and keeps them in memory for a while, so that a window of a thousand memberships does not ask for
 * each one at each look: Systems Manager takes 40 calls a second of an account. Failures are not kept, and who meets a
 * cluster that a text does not lead to any more forgets it.
 */
export class KubeconfigReader {
  readonly #options: KubeconfigReaderOptions;
  readonly #keptMs: number;
  readonly #keptCount: number;
  readonly #kept = new Map<string, { readonly text: string; readonly untilMs: number }>();

  constructor(options: KubeconfigReaderOptions) {
    this.#options = options;
    this.#keptMs = options.keptMs ?? 300_000;
    this.#keptCount = options.keptCount ?? 1_000;
  }

  /** The text of a kubeconfig. It holds credentials: never to be logged or stored. */
  async readKubeconfig(at: KubeconfigLocation, signal: AbortSignal): Promise<Result<string, CredentialError>> {
    const name = nameOf(at);
    const nowMs = this.#options.clock.monotonicMs();
    const kept = this.#kept.get(name);
    if (kept !== undefined && nowMs < kept.untilMs) return ok(kept.text);
    this.#kept.delete(name);
    const read =
      "ssm" in at ? await this.#options.parameters.read(at.ssm, signal) : await this.#readFile(at.file, signal);
    if (read.ok) this.#keep(name, read.value, nowMs + this.#keptMs);
    return read;
  }

  /** Forgets one text, as after a cluster has refused its credential, or all, as when a window starts. */
  forget(at?: KubeconfigLocation): void {
    if (at === undefined) this.#kept.clear();
    else this.#kept.delete(nameOf(at));
  }

  #keep(name: string, text: string, untilMs: number): void {
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size >= this.#keptCount) this.#kept.delete(oldest);
    this.#kept.set(name, { text, untilMs });
  }

  async #readFile(path: string, signal: AbortSignal): Promise<Result<string, CredentialError>> {
    const what = `the kubeconfig ${path}`;
    if (!this.#options.fileAccess) {
      const remedy = "put the kubeconfig into an SSM parameter (SecureString) and name it as access.kubeconfig.ssm";
      return failed({ kind: "invalid", problem: "a deployed function has no files of yours", remedy });
    }
    try {
      await using file = await open(path, "r");
      const { size } = await file.stat();
      if (size > MAX_BYTES) return failed(unfit(what, "is larger than 1 MiB"));
      const text = await file.readFile({ encoding: "utf8", signal });
      return text.trim() === "" ? failed(unfit(what, "is empty")) : ok(text);
    } catch (error) {
      if (!signal.aborted) return failed(fileProblem(what, codeOf(error)));
      return failed({ kind: "timeout", problem: `${what}: ended by the caller`, remedy: "it is tried again" });
    }
  }
}

function nameOf(at: KubeconfigLocation): string {
  return "ssm" in at ? `ssm:${at.ssm}` : `file:${at.file}`;
}

function unfit(what: string, how: string): CredentialError {
  return { kind: "invalid", problem: `${what} ${how}`, remedy: "name the file that kubectl uses for the cluster" };
}
