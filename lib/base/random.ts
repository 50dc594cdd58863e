/** Chance, as a parameter. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
}

/** The chance of the machine; not for secrets. */
export const systemRandom: Random = { next: () => Math.random() };
