import type { Cause } from "../base/cause.ts";
import { type Clock, deadline } from "../base/clock.ts";
import { cutText } from "../base/limits.ts";
import type { Finding } from "./finding.ts";

/** The sides of a membership, in the order in which they are shown. */
export type Side = "aws" | "member" | "leader";

/** What came of one check. */
export type CheckReport = {
  readonly side: Side;
  /** Its name within its side: `tls`. */
  readonly check: string;
  /** What was tried, against what. */
  readonly tried: string;
  /** How long it took, in milliseconds. */
  readonly ms: number;
} & (
  | { readonly outcome: "passed"; readonly came: string }
  | { readonly outcome: "failed"; readonly cause: Cause; readonly came: string; readonly remedy: string }
  /** Nothing is known: neither good nor bad. */
  | { readonly outcome: "notAsked"; readonly because: string }
);

/** What a check leaves to those that build on it; `check`: where the chain ended. */
export type Answer<T> = { readonly known: true; readonly value: T } | { readonly known: false; readonly check: string };

/** An answer to come. Never rejects but for bugs. */
export type Asked<T> = Promise<Answer<T>>;

type Values<N extends readonly Asked<unknown>[]> = { [K in keyof N]: N[K] extends Asked<infer T> ? T : never };

/** One check. */
export interface Check<T, N extends readonly Asked<unknown>[]> {
  readonly side: Side;
  readonly check: string;
  /** What must be known before it can be asked. */
  readonly needs: N;
  /** What is tried, against what; told of what was needed where that is known. */
  readonly tries: string | ((...known: Values<N>) => string);
  /** How long it may take once it is asked, in milliseconds. */
  readonly timeoutMs: number;
  ask(known: Values<N>, signal: AbortSignal): Promise<Finding<T>>;
}

/** Longest text of a line, in bytes. */
const LINE_BYTES = 2_000;

/**
 * Checks that run side by side, each as soon as what it needs is known, each within its own time and all within one.
 * What cannot be asked because something before it failed is reported as not asked, never as passed.
 */
export class Examination {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #endMs: number;
  readonly #reports: Promise<CheckReport>[] = [];

  /** @param budgetMs for all checks together, in milliseconds */
  constructor(clock: Clock, budgetMs: number, signal: AbortSignal) {
    this.#clock = clock;
    this.#signal = signal;
    this.#endMs = clock.monotonicMs() + budgetMs;
  }

  /** Asks when it can be asked. */
  ask<T, const N extends readonly Asked<unknown>[]>(check: Check<T, N>): Asked<T> {
    const run = this.#run(check);
    this.#reports.push(run.then(({ report }) => report));
    return run.then(({ answer }) => answer);
  }

  /** What came of all checks, in the order in which they were asked. */
  async reports(): Promise<readonly CheckReport[]> {
    return await Promise.all(this.#reports);
  }

  async #run<T, N extends readonly Asked<unknown>[]>(
    check: Check<T, N>,
  ): Promise<{ readonly report: CheckReport; readonly answer: Answer<T> }> {
    const { side, check: name, needs, tries } = check;
    const answers = await Promise.all(needs);
    const broken = answers.find((answer) => !answer.known);
    const tried = (values?: Values<N>): string =>
      typeof tries === "string" ? tries : values === undefined ? name : tries(...values);
    if (broken?.known === false) {
      const because = `${broken.check} is not known`;
      const report = { side, check: name, tried: tried(), ms: 0, outcome: "notAsked", because } as const;
      return { report, answer: { known: false, check: broken.check } };
    }
    const values = answers.map((answer) => (answer.known ? answer.value : undefined)) as Values<N>;
    const startedMs = this.#clock.monotonicMs();
    const finding = await this.#within(check, values);
    const facts = { side, check: name, tried: tried(values), ms: Math.round(this.#clock.monotonicMs() - startedMs) };
    return { report: { ...facts, ...told(finding) }, answer: answerOf(finding, `${side} ${name}`) };
  }

  async #within<T, N extends readonly Asked<unknown>[]>(check: Check<T, N>, values: Values<N>): Promise<Finding<T>> {
    const leftMs = this.#endMs - this.#clock.monotonicMs();
    if (leftMs <= 0 || this.#signal.aborted) return { kind: "notAsked", because: "there was no time left" };
    const timeoutMs = Math.min(check.timeoutMs, leftMs);
    using limit = deadline(this.#clock, timeoutMs, this.#signal);
    const over = Promise.withResolvers<Finding<T>>();
    // Not every call looks at its signal: name resolution cannot be ended.
    limit.signal.addEventListener("abort", () => over.resolve(silent(timeoutMs)), { once: true });
    return await Promise.race([check.ask(values, limit.signal), over.promise]);
  }
}

function silent(timeoutMs: number): Finding<never> {
  return {
    kind: "failed",
    cause: "TimedOut",
    came: `nothing within ${Math.round(timeoutMs)} ms`,
    remedy: "Look at what stands between this machine and the other side, and run it again",
  };
}

function told<T>(finding: Finding<T>) {
  switch (finding.kind) {
    case "passed":
      return { outcome: "passed", came: cutText(finding.came, LINE_BYTES) } as const;
    case "failed": {
      const { cause, came, remedy } = finding;
      return {
        outcome: "failed",
        cause,
        came: cutText(came, LINE_BYTES),
        remedy: cutText(remedy, LINE_BYTES),
      } as const;
    }
    case "notAsked":
      return { outcome: "notAsked", because: finding.because } as const;
  }
}

function answerOf<T>(finding: Finding<T>, check: string): Answer<T> {
  if (finding.kind === "passed") return { known: true, value: finding.value };
  if (finding.kind === "failed" && "known" in finding && finding.known !== undefined) {
    return { known: true, value: finding.known };
  }
  return { known: false, check };
}

/** What may be known or not: for a check that can be asked either way. */
export async function ifKnown<T>(asked: Asked<T>): Asked<T | undefined> {
  const answer = await asked;
  return answer.known ? answer : { known: true, value: undefined };
}
