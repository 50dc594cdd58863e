import type { ImportRecord } from "../../state/imports.ts";

/** What an import asks for in the member. */
export type Claim = Pick<ImportRecord, "kind" | "target">;

/**
 * Which import has the right to which objects, of one member. Leaders name imports after what they are about, so that two
 * never ask for the same; somebody who writes imports by hand may let them. Then the one whose name comes first has it,
 * and what another one leaves behind stays.
 */
export class Claims {
  readonly #byName = new Map<string, string>();
  readonly #names = new Map<string, Set<string>>();

  /** What the records say; for the start of a window. Records of what is to be excluded or removed claim nothing. */
  noteRecords(records: Iterable<ImportRecord>): void {
    for (const record of records) {
      if (record.state !== "Excluded" && record.state !== "Removing") this.set(record.name, record);
    }
  }

  /** @param claim undefined: it asks for nothing (any more) */
  set(name: string, claim: Claim | undefined): void {
    const key = claim === undefined ? undefined : keyOf(claim);
    const before = this.#byName.get(name);
    if (before === key) return;
    if (before !== undefined) {
      const names = this.#names.get(before);
      names?.delete(name);
      if (names?.size === 0) this.#names.delete(before);
    }
    if (key === undefined) {
      this.#byName.delete(name);
      return;
    }
    this.#byName.set(name, key);
    const names = this.#names.get(key) ?? new Set<string>();
    this.#names.set(key, names.add(name));
  }

  /** The import that has the right to it; undefined: none asks for it. */
  owner(claim: Claim): string | undefined {
    const [first, ...others] = this.#names.get(keyOf(claim)) ?? [];
    return others.reduce((least, name) => (least === undefined || name < least ? name : least), first);
  }
}

function keyOf({ kind, target: { namespace = "", name } }: Claim): string {
  return `${kind} ${namespace}/${name}`;
}
