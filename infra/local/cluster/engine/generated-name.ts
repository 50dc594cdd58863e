import type { Random } from "../../../../lib/base/random.ts";

/** No vowels and no digits that look like them, so that no word comes out. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX = 5;
const LONGEST_PREFIX = 63 - SUFFIX;

/** A name made from metadata.generateName. */
export function generatedName(prefix: string, random: Random): string {
  const suffix = Array.from({ length: SUFFIX }, () => LETTERS[Math.floor(random.next() * LETTERS.length)]);
  return prefix.slice(0, LONGEST_PREFIX) + suffix.join("");
}
