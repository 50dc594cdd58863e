import type { KubeObject } from "./client.ts";
import type { KubeError } from "./errors.ts";

/** What is watched, and for how long. All durations in milliseconds. */
export interface WatchOptions {
  /** Events after this version; of a list, an event or a bookmark of the same server. */
  readonly resourceVersion: string;
  /** Until the answer begins. */
  readonly answerMs: number;
  /** A watch that nothing has come from for this long, not even a bookmark, is given up. */
  readonly idleMs: number;
  /** The server is asked to end it after this (`timeoutSeconds`); it is ended a little later if it does not. */
  readonly forMs: number;
  readonly signal?: AbortSignal;
}

/** One event of a watch (Kubernetes API concepts, "Efficient detection of changes"). */
export type WatchEvent =
  | { readonly kind: "added" | "modified" | "deleted"; readonly object: KubeObject; readonly resourceVersion: string }
  /** Nothing has happened up to this version. */
  | { readonly kind: "bookmark"; readonly resourceVersion: string };

/** How a watch ended. What was handed on before counts in any case: the next one goes on from there. */
export type WatchEnd =
  /** In its time, by the server or by us. */
  | { readonly kind: "ended" }
  /** By the caller's signal. */
  | { readonly kind: "stopped" }
  /** Nothing had come for `idleMs`: the connection may be dead. */
  | { readonly kind: "silent" }
  /** `gone`: the version is too old, or of another history; everything is to be listed again. */
  | { readonly kind: "failed"; readonly error: KubeError };

/** What a line of a watch says. */
export type WatchLine =
  | { readonly kind: "event"; readonly event: WatchEvent }
  /** An ERROR event; its object as it was, a Status as a rule. */
  | { readonly kind: "error"; readonly object: unknown }
  | { readonly kind: "malformed" };

const KINDS: ReadonlyMap<unknown, "added" | "modified" | "deleted"> = new Map([
  ["ADDED", "added"],
  ["MODIFIED", "modified"],
  ["DELETED", "deleted"],
]);

/** Reads one line; undefined for what is to be passed over: an empty line, or a type that is not known (yet). */
export function readWatchLine(line: string): WatchLine | undefined {
  if (line.trim() === "") return undefined;
  const value = parse(line);
  if (!isRecord(value) || typeof value["type"] !== "string") return { kind: "malformed" };
  const { type, object } = value;
  if (type === "ERROR") return { kind: "error", object };
  if (!isRecord(object) || !isRecord(object["metadata"])) return { kind: "malformed" };
  const { resourceVersion } = object["metadata"];
  if (typeof resourceVersion !== "string" || resourceVersion === "") return { kind: "malformed" };
  if (type === "BOOKMARK") return { kind: "event", event: { kind: "bookmark", resourceVersion } };
  const kind = KINDS.get(type);
  if (kind === undefined) return undefined;
  const { metadata, ...rest } = object;
  return { kind: "event", event: { kind, object: { ...rest, metadata }, resourceVersion } };
}

/** Longest line, in bytes: an object of etcd's limit (1.5 MB), written in the longest way. */
const LINE_BYTES = 10_000_000;

/** Cuts what arrives into lines; what has not come whole is kept. */
export class Lines {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  /** The lines that are complete with this part; undefined when one is too long. */
  take(part: Buffer): readonly string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = part.indexOf(10); end !== -1; end = part.indexOf(10, from)) {
      lines.push(Buffer.concat([...this.#chunks, part.subarray(from, end)]).toString("utf8"));
      this.#chunks.length = 0;
      this.#bytes = 0;
      from = end + 1;
    }
    const rest = part.subarray(from);
    this.#bytes += rest.length;
    if (this.#bytes > LINE_BYTES) return undefined;
    if (rest.length > 0) this.#chunks.push(rest);
    return lines;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
