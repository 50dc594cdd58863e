import type { Random } from "../../../../lib/base/random.ts";

/** Which requests a fault is for; what is left out matches all. Texts may contain `*` for any run of characters. */
export interface FaultMatch {
  /** Verbs of the API (`patch`, `watch`), or HTTP methods in lower case for other paths. */
  readonly verbs?: readonly string[];
  readonly group?: string;
  readonly resource?: string;
  /** `""` for requests without a subresource. */
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user?: string;
  /** The path without its query; the way to match `/readyz` and the like. */
  readonly path?: string;
}

/** What goes wrong. */
export type FaultAction =
  /** An answer instead of the right one: a Status of `message` and `reason`, or `body` as it is. */
  | {
      readonly kind: "status";
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "latency"; readonly ms: number; readonly jitterMs?: number }
  /** The request is taken and never answered; the connection works. */
  | { readonly kind: "hang" }
  /** The connection is reset (TCP RST), with all that is on it. */
  | { readonly kind: "reset" }
  /** The connection stays open, but nothing is read or written on it any more. */
  | { readonly kind: "halfOpen" }
  /** The answer ends after `bytes` bytes: the connection or stream breaks, or, with `clean`, a whole answer with half a body. */
  | { readonly kind: "truncate"; readonly bytes: number; readonly clean?: boolean }
  /** The answer comes in pieces of `bytes` bytes, one each `everyMs`. */
  | { readonly kind: "drip"; readonly bytes: number; readonly everyMs: number }
  /** What happens to a watch after so many events (none by default). */
  | { readonly kind: "watch"; readonly fault: WatchFault; readonly afterEvents?: number };

/** Ways for a watch to end or not to: ended, silent for ever, `410 Gone` as an event or as the answer, broken off. */
export type WatchFault = "end" | "silent" | "goneEvent" | "goneStatus" | "reset";

/** A programmed fault. */
export interface FaultRule {
  readonly match?: FaultMatch;
  readonly action: FaultAction;
  /** Before anything is done (default), or after the work is done and stored: a lost answer. */
  readonly when?: "before" | "after";
  /** For how many requests; for ever by default. */
  readonly times?: number;
  /** For which part of the requests, from 0 to 1; all by default. */
  readonly probability?: number;
}

/** A fault that is in force. */
export interface Fault {
  readonly id: number;
  readonly rule: FaultRule;
  /** How many requests it has hit. */
  readonly hits: number;
  remove(): void;
}

/** What is known of a request when its faults are chosen. */
export interface FaultSubject {
  readonly verb: string;
  readonly path: string;
  readonly group?: string | undefined;
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly user?: string | undefined;
}

/** The faults of one request, in the order in which they were added. */
export interface FaultPlan {
  readonly before: readonly FaultAction[];
  readonly after: readonly FaultAction[];
}

/** Where connections go that are made from now on: served, reset, or taken and left without a word. */
export type AcceptMode = "serve" | "reset" | "silent";

const NONE: FaultPlan = { before: [], after: [] };

/** The faults of one API server; they can be changed at any time. */
export class Faults {
  /** What becomes of new connections. */
  accept: AcceptMode = "serve";
  readonly #random: Random;
  readonly #faults = new Map<number, Entry>();
  #nextId = 1;

  /** @param random decides where `probability` or `jitterMs` are given */
  constructor(random: Random) {
    this.#random = random;
  }

  /** Puts a fault into force. */
  add(rule: FaultRule): Fault {
    const entry = new Entry(this.#nextId++, rule, () => this.#faults.delete(entry.id));
    this.#faults.set(entry.id, entry);
    return entry;
  }

  /** Takes one fault back; false when there is none with this id. */
  remove(id: number): boolean {
    return this.#faults.delete(id);
  }

  /** Takes all faults back, those of new connections included. */
  clear(): void {
    this.#faults.clear();
    this.accept = "serve";
  }

  /** The faults in force. */
  list(): readonly Fault[] {
    return [...this.#faults.values()];
  }

  /** Chooses the faults of a request and counts them. */
  plan(subject: FaultSubject): FaultPlan {
    if (this.#faults.size === 0) return NONE;
    const before: FaultAction[] = [];
    const after: FaultAction[] = [];
    for (const entry of this.#faults.values()) {
      if (!entry.matches(subject)) continue;
      const { probability, when, action } = entry.rule;
      if (probability !== undefined && this.#random.next() >= probability) continue;
      entry.hit();
      (when === "after" ? after : before).push(action);
    }
    return { before, after };
  }

  /** How long a latency lasts this time, in milliseconds. */
  latencyMs(action: FaultAction & { readonly kind: "latency" }): number {
    return action.ms + this.#random.next() * (action.jitterMs ?? 0);
  }
}

class Entry implements Fault {
  readonly id: number;
  readonly rule: FaultRule;
  readonly remove: () => void;
  readonly #tests: readonly ((subject: FaultSubject) => boolean)[];
  #hits = 0;

  constructor(id: number, rule: FaultRule, remove: () => void) {
    this.id = id;
    this.rule = rule;
    this.remove = remove;
    this.#tests = testsOf(rule);
  }

  get hits(): number {
    return this.#hits;
  }

  matches(subject: FaultSubject): boolean {
    return this.#tests.every((test) => test(subject));
  }

  hit(): void {
    this.#hits += 1;
    if (this.rule.times !== undefined && this.#hits >= this.rule.times) this.remove();
  }
}

const FIELDS = ["group", "resource", "subresource", "namespace", "name", "user", "path"] as const;

function testsOf(rule: FaultRule): readonly ((subject: FaultSubject) => boolean)[] {
  const { match = {}, action } = rule;
  const tests: ((subject: FaultSubject) => boolean)[] = [];
  const { verbs } = match;
  if (verbs !== undefined) tests.push((s) => verbs.includes(s.verb));
  else if (action.kind === "watch") tests.push((s) => s.verb === "watch");
  for (const field of FIELDS) {
    const wanted = match[field];
    if (wanted === undefined) continue;
    const pattern = glob(wanted);
    tests.push((s) => pattern.test(s[field] ?? ""));
  }
  return tests;
}

function glob(text: string): RegExp {
  const parts = text.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`, "s");
}
