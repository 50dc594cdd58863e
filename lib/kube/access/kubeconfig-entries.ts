import { parse, YAMLParseError } from "yaml";
import { failed, ok, type Result } from "../../base/result.ts";
import type { UserError } from "../../base/user-error.ts";

/** A part of a kubeconfig and where it stands. */
export interface Entry {
  /** `clusters[1].cluster`. */
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What one context of a kubeconfig needs. */
export interface ContextEntries {
  readonly cluster: Entry;
  readonly user: Entry;
  readonly namespace: string | undefined;
}

/** Reads a kubeconfig's text and picks what one context names; no other entry is looked at. */
export function readContext(text: string, wanted: string | undefined): Result<ContextEntries, UserError> {
  const root = readYaml(text);
  if (!root.ok) return root;
  const current = root.value["current-context"];
  const name = wanted ?? (typeof current === "string" ? current : "");
  if (name === "") {
    return failed({
      path: "current-context",
      problem: "the kubeconfig has no current context",
      remedy: "Set current-context, or name a context in the membership",
    });
  }
  const context = entry(root.value, "contexts", "context", name);
  if (!context.ok) return context;
  const cluster = named(root.value, context.value, "cluster");
  if (!cluster.ok) return cluster;
  const user = named(root.value, context.value, "user");
  if (!user.ok) return user;
  const { namespace } = context.value.fields;
  return ok({
    cluster: cluster.value,
    user: user.value,
    namespace: typeof namespace === "string" && namespace !== "" ? namespace : undefined,
  });
}

function readYaml(text: string): Result<Readonly<Record<string, unknown>>, UserError> {
  const remedy = "Give the kubeconfig as kubectl config view --raw --minify --flatten writes it";
  try {
    // Warnings would be written to the log with the line that they are about, which may be a token's.
    const root: unknown = parse(text, { logLevel: "error" });
    if (isRecord(root)) return ok(root);
    return failed({ path: "", problem: "the kubeconfig is empty or no mapping", remedy });
  } catch (error) {
    // The parser's message quotes the text, which holds secrets: only the place is told.
    const line = error instanceof YAMLParseError ? error.linePos?.[0].line : undefined;
    const where = line === undefined ? "" : ` (line ${line})`;
    return failed({ path: "", problem: `the kubeconfig is not valid YAML${where}`, remedy });
  }
}

function named(
  root: Readonly<Record<string, unknown>>,
  context: Entry,
  kind: "cluster" | "user",
): Result<Entry, UserError> {
  const name = context.fields[kind];
  if (typeof name === "string" && name !== "") return entry(root, `${kind}s`, kind, name);
  return failed({
    path: `${context.path}.${kind}`,
    problem: `the context names no ${kind}`,
    remedy: `Name an entry of ${kind}s`,
  });
}

function entry(
  root: Readonly<Record<string, unknown>>,
  list: string,
  kind: string,
  name: string,
): Result<Entry, UserError> {
  const all: unknown = root[list];
  const entries: readonly unknown[] = Array.isArray(all) ? all : [];
  const index = entries.findIndex((one) => isRecord(one) && one["name"] === name);
  const found = entries[index];
  const fields: unknown = isRecord(found) ? found[kind] : undefined;
  if (isRecord(fields)) return ok({ path: `${list}[${index}].${kind}`, fields });
  return failed({
    path: list,
    problem: `the kubeconfig has no ${kind} named ${JSON.stringify(name)}`,
    remedy: `Use one of: ${names(entries)}`,
  });
}

function names(entries: readonly unknown[]): string {
  const known = entries.flatMap((one) => (isRecord(one) && typeof one["name"] === "string" ? [one["name"]] : []));
  return known.length === 0 ? "(none)" : known.slice(0, 10).join(", ");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
