import type { ImportRecord } from "../../state/imports.ts";
import type { Claim } from "./claims.ts";
import { IMPORT_KINDS } from "./kinds.ts";
import type { MemberObjects } from "./member-objects.ts";
import type { ImportKind, ImportProgress, ImportSettings } from "./reconciler.ts";
import type { ResourceImport } from "./resource-import.ts";

/**
 * What an importer has left in the member that no import asks for and no record knows: imported by an agent before us, or
 * by us in a table that was lost. Each becomes a record to be removed as that of any import that is gone; its name has a
 * slash, which no import's has.
 *
 * @param objects a complete list of the member, read before `imports`
 * @param imports a complete list of the leader's
 */
export function findStrays(
  objects: MemberObjects,
  imports: Iterable<ResourceImport>,
  records: Iterable<Pick<ImportRecord, "kind" | "target">>,
  settings: ImportSettings,
): readonly ImportProgress[] {
  const known = new Set<string>();
  for (const wanted of imports) {
    const target = IMPORT_KINDS.get(wanted.kind)?.target(wanted, settings);
    if (target !== undefined) known.add(keyOf({ kind: wanted.kind, target }));
  }
  for (const record of records) known.add(keyOf(record));
  return [...IMPORT_KINDS.values()].flatMap((of) =>
    of
      .targetsOf(objects, settings)
      .filter((target) => !known.has(keyOf({ kind: of.kind, target })))
      .map((target) => stray(of, target, objects, settings)),
  );
}

function stray(
  of: ImportKind,
  target: ImportRecord["target"],
  observed: MemberObjects,
  settings: ImportSettings,
): ImportProgress {
  const { kind } = of;
  const name = `stray/${kind}/${target.namespace ?? ""}/${target.name}`;
  const objects = of.owned({ target, record: undefined, observed, settings });
  return { name, kind, target, objects, state: "Removing" };
}

function keyOf({ kind, target: { namespace = "", name } }: Claim): string {
  return `${kind} ${namespace}/${name}`;
}
