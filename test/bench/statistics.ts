import { max, median, min, quantile } from "simple-statistics";

/** What several intervals gave: the middle, and how far they lie apart. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Distribution of durations in milliseconds; undefined for none. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** @returns undefined where there is nothing to summarise */
export function spreadOf(values: readonly number[]): Spread | undefined {
  if (values.length === 0) return undefined;
  const copy = [...values];
  return { median: median(copy), min: min(copy), max: max(copy) };
}

/** @returns undefined where there is nothing to summarise */
export function percentilesOf(values: readonly number[]): Percentiles | undefined {
  if (values.length === 0) return undefined;
  const copy = [...values];
  return { p50: quantile(copy, 0.5), p99: quantile(copy, 0.99), max: max(copy) };
}

/** `ours` as a share of `theirs`; undefined where that says nothing. */
export function ratioOf(ours: number | undefined, theirs: number | undefined): number | undefined {
  if (ours === undefined || theirs === undefined || theirs === 0) return undefined;
  return ours / theirs;
}
