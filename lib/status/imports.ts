import { ok, type Result } from "../base/result.ts";
import type { StateError } from "../state/errors.ts";
import type { ImportedObject, ImportRecord, ImportState } from "../state/imports.ts";
import type { ImportReader } from "./ports.ts";

/** How many imports one request asks for. */
const PAGE = 200;

/** States in which an import is as it is to be: nothing is tried again. */
const CALM: ReadonlySet<ImportState> = new Set(["Applied", "Excluded", "Unsupported"]);

/** One import as people and programs read it; times are RFC 3339. */
export interface ImportView {
  readonly name: string;
  readonly kind: string;
  /** `namespace/name`, or `name` where it lies in none. */
  readonly target: string;
  readonly state: ImportState;
  readonly since: string;
  /** Tries that failed in a row. */
  readonly attempts: number;
  readonly nextAttemptAt?: string;
  /** Why it is not applied. */
  readonly error?: string;
  /** What it made in the member: `Service shop/antrea-mc-web`. */
  readonly objects: readonly string[];
}

/** Whether an import is as it is to be. */
export function isCalm({ state }: Pick<ImportView, "state">): boolean {
  return CALM.has(state);
}

/** All imports of a cluster, by name. */
export async function readImports(
  reader: ImportReader,
  cluster: string,
  signal: AbortSignal,
): Promise<Result<readonly ImportView[], StateError>> {
  const imports: ImportView[] = [];
  let startFrom: string | undefined;
  do {
    const page = await reader.listImports(cluster, { limit: PAGE, startFrom }, signal);
    if (!page.ok) return page;
    imports.push(...page.value.imports.map(viewImport));
    startFrom = page.value.next;
  } while (startFrom !== undefined);
  return ok(imports);
}

function viewImport(record: ImportRecord): ImportView {
  const { name, kind, target, state, since, attempts, nextAttemptAt, error, objects } = record;
  return {
    name,
    kind,
    target: address(target),
    state,
    since: new Date(since).toISOString(),
    attempts,
    ...(nextAttemptAt === undefined ? {} : { nextAttemptAt: new Date(nextAttemptAt).toISOString() }),
    ...(error === undefined ? {} : { error }),
    objects: objects.map((object) => `${object.kind} ${address(object)}`),
  };
}

function address({ namespace, name }: Pick<ImportedObject, "namespace" | "name">): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
