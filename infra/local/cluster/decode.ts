import { isJsonObject, type JsonObject } from "./json.ts";
import { decodeMetadata } from "./metadata.ts";
import { apiVersionOf, type ResourceType, type ResourceVersion } from "./resource-type.ts";
import { decodeTyped } from "./schema/decode-typed.ts";
import { applyDefaults } from "./schema/defaulting.ts";
import { prune } from "./schema/prune.ts";
import { badRequest } from "./status.ts";
import type { ApiObject, ApiStatus } from "./types.ts";

/** What came of reading a body: an object with the fields that were dropped, or why it cannot be read. */
export type Decoded =
  | { readonly object: ApiObject; readonly unknown: readonly string[] }
  | { readonly wrong: string; readonly status: ApiStatus };

/**
 * Reads a body as an object of the type: checks kind and version, drops unknown fields, fills in defaults.
 * `body` is changed in place.
 */
export function decode(body: unknown, type: ResourceType, version: ResourceVersion): Decoded {
  if (!isJsonObject(body)) {
    const wrong =
      "couldn't get version/kind; json parse error: json: cannot unmarshal the body into Go value of type struct";
    return { wrong, status: badRequest(wrong) };
  }
  const head = checkHead(body, type, version);
  if (head !== undefined) return { wrong: head, status: badRequest(head) };
  const unknown: string[] = [];
  const report = (path: string): void => void unknown.push(path);
  const metadata = decodeMetadata(body["metadata"], report);
  if (typeof metadata["wrong"] === "string") return undecodable(metadata["wrong"], type, version);
  const object: ApiObject = { ...body, apiVersion: apiVersionOf(type.group, version.name), kind: type.kind, metadata };
  const wrong = decodeContent(object, type, version, report);
  if (wrong !== undefined) return undecodable(wrong, type, version);
  type.strategy.applyDefaults?.(object, version.name);
  return { object, unknown };
}

function decodeContent(
  object: ApiObject,
  type: ResourceType,
  version: ResourceVersion,
  report: (path: string) => void,
): string | undefined {
  const schema = version.schema;
  if (schema === undefined) return undefined;
  if (!type.custom) return decodeTyped(object, schema, report);
  prune(object, schema, { unknown: report, root: true });
  applyDefaults(object, schema);
  return undefined;
}

function checkHead(body: JsonObject, type: ResourceType, version: ResourceVersion): string | undefined {
  const expected = apiVersionOf(type.group, version.name);
  const kind = headText(body["kind"]);
  const apiVersion = headText(body["apiVersion"]);
  if (type.custom && kind === "") {
    return `${type.kind} in version ${JSON.stringify(version.name)} cannot be handled as a ${type.kind}: Object 'Kind' is missing in '${summary(body)}'`;
  }
  if (apiVersion !== "" && apiVersion !== expected) {
    return `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;
  }
  if (kind !== "" && kind !== type.kind) {
    return `${kind} in version ${JSON.stringify(version.name)} cannot be handled as a ${type.kind}: no kind ${JSON.stringify(kind)} is registered for this resource`;
  }
  return undefined;
}

/** A field of the head as text; one that is no text can match nothing. */
function headText(value: unknown): string {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

function summary(body: JsonObject): string {
  return JSON.stringify(body).slice(0, 200);
}

function undecodable(wrong: string, type: ResourceType, version: ResourceVersion): Decoded {
  const message = `${type.kind} in version ${JSON.stringify(version.name)} cannot be handled as a ${type.kind}: ${wrong}`;
  return { wrong, status: badRequest(message) };
}
