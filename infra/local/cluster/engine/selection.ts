import { badRequest } from "../status.ts";
import type { ApiObject, ResourceRequest } from "../types.ts";
import { isRefused, type Located, type Refused } from "./core.ts";
import { isJsonObject } from "./json.ts";
import { parseLabelSelector } from "./label-requirements.ts";
import { parseFieldSelector, type Selects } from "./selectors.ts";

const ALWAYS = ["metadata.name", "metadata.namespace"];

/** What a list, watch or deletecollection selects; `undefined` is everything. */
export interface Selection {
  readonly selects: Selects | undefined;
}

/** Reads labelSelector, fieldSelector and the name of a request. */
export function readSelection(request: ResourceRequest, at: Located): Selection | Refused {
  const tests: Selects[] = [];
  const labels = parsed(request.query.get("labelSelector"), parseLabelSelector);
  if (isRefused(labels)) return labels;
  if (labels.selects !== undefined) tests.push(labels.selects);
  const fields = parsed(request.query.get("fieldSelector"), (text) =>
    parseFieldSelector(
      text,
      (field) => refuseField(field, at),
      (object) => selectableFields(object, at),
    ),
  );
  if (isRefused(fields)) return fields;
  if (fields.selects !== undefined) tests.push(fields.selects);
  const name = request.name;
  if (name !== undefined) tests.push((object) => object.metadata.name === name);
  return { selects: tests.length === 0 ? undefined : (object) => tests.every((test) => test(object)) };
}

function parsed(
  text: string | null,
  parse: (text: string) => ReturnType<typeof parseLabelSelector>,
): Selection | Refused {
  if (text === null || text.trim() === "") return { selects: undefined };
  const result = parse(text);
  return "problem" in result ? { refused: badRequest(result.problem) } : { selects: result.selects };
}

function refuseField(field: string, at: Located): string | undefined {
  const more = at.type.custom
    ? (at.version.selectableFields ?? []).map((path) => path.replace(/^\./, ""))
    : Object.keys(at.type.strategy.selectable?.(EMPTY) ?? {});
  if (ALWAYS.includes(field) || more.includes(field)) return undefined;
  if (at.type.custom || more.length > 0) return `field label not supported: ${field}`;
  return `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

const EMPTY: ApiObject = { apiVersion: "", kind: "", metadata: {} };

function selectableFields(object: ApiObject, at: Located): Record<string, string> {
  const fields: Record<string, string> = {
    "metadata.name": object.metadata.name ?? "",
    "metadata.namespace": object.metadata.namespace ?? "",
    ...at.type.strategy.selectable?.(object),
  };
  for (const path of at.version.selectableFields ?? []) {
    const steps = path.replace(/^\./, "").split(".");
    const value = steps.reduce<unknown>((v, step) => (isJsonObject(v) ? v[step] : undefined), object);
    fields[steps.join(".")] =
      typeof value === "string" ? value : typeof value === "object" ? "" : (JSON.stringify(value) ?? "");
  }
  return fields;
}
