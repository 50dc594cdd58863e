import { invalid } from "../field-error.ts";
import { badRequest, invalidObject } from "../status.ts";
import type { ApiObject, ApiStatus } from "../types.ts";
import { isJsonObject, type JsonObject, textIn } from "./json.ts";
import { decodeMetadata } from "./metadata.ts";
import { apiVersionOf, type ResourceType, type ResourceVersion } from "./resource-type.ts";
import { decodeTyped } from "./schema/decode-typed.ts";
import { applyDefaults } from "./schema/defaulting.ts";
import { prune } from "./schema/prune.ts";

/** Why a body cannot be read: `wrong` in the decoder's words, and the Status that a create or update answers. */
export interface Undecodable {
  readonly wrong: string;
  readonly status: ApiStatus;
  /** What a patch answers where it is not a complaint about the patched text. */
  readonly patchStatus?: ApiStatus;
}

/** What came of reading a body: an object with the fields that were dropped, or why it cannot be read. */
export type Decoded = { readonly object: ApiObject; readonly unknown: readonly string[] } | Undecodable;

/**
 * Reads a body as an object of the type: checks kind and version, drops unknown fields, fills in defaults.
 * `body` is changed in place.
 */
export function decode(body: unknown, type: ResourceType, version: ResourceVersion): Decoded {
  if (!isJsonObject(body)) return noObject(body, type);
  const head = checkHead(body, type, version);
  if (head !== undefined) return head;
  const unknown: string[] = [];
  const report = (path: string): void => void unknown.push(path);
  const metadata = decodeMetadata(body["metadata"], type.custom ? "" : "metadata.", report);
  if (typeof metadata["wrong"] === "string")
    return undecodable(metadata["wrong"], type, { kind: type.kind, version: version.name });
  const object: ApiObject = { ...body, apiVersion: apiVersionOf(type.group, version.name), kind: type.kind, metadata };
  const wrong = decodeContent(object, type, version, report);
  if (wrong !== undefined) return undecodable(wrong, type, { kind: type.kind, version: version.name });
  type.strategy.applyDefaults?.(object, version.name);
  return { object, unknown: type.custom ? unknown.toSorted() : unknown };
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

function checkHead(body: JsonObject, type: ResourceType, version: ResourceVersion): Undecodable | undefined {
  const expected = apiVersionOf(type.group, version.name);
  const kind = headText(body["kind"]);
  const apiVersion = headText(body["apiVersion"]);
  if (type.custom) return checkCustomHead(body, type, { kind, apiVersion, expected });
  if (apiVersion !== "" && apiVersion !== expected) {
    const wrong = `no kind ${JSON.stringify(kind || type.kind)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:110"`;
    return undecodable(wrong, type, { kind: kind || type.kind, version: apiVersion.split("/").at(-1) ?? "" });
  }
  if (kind === "" || kind === type.kind) return undefined;
  const group = type.group === "" ? "core" : (type.group.split(".")[0] ?? "");
  const wrong = `converting (${version.name}.${kind}) to (${group}.${type.kind}): unknown conversion`;
  return undecodable(wrong, type, { kind, version: version.name });
}

function checkCustomHead(
  body: JsonObject,
  type: ResourceType,
  { kind, apiVersion, expected }: { readonly kind: string; readonly apiVersion: string; readonly expected: string },
): Undecodable | undefined {
  const name = isJsonObject(body["metadata"]) ? textIn(body["metadata"], "name") : "";
  if (kind === "") {
    const text = JSON.stringify(body);
    return unrecognised(`Object 'Kind' is missing in '${text}'`, text, type);
  }
  if (apiVersion !== expected) {
    const wrong = `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`;
    const error = invalid("apiVersion", apiVersion, `must be ${expected}`);
    return { wrong, status: badRequest(wrong), patchStatus: invalidObject({ group: "", kind }, name, [error]) };
  }
  if (kind === type.kind) return undefined;
  const error = invalid("kind", kind, `must be ${type.kind}`);
  const status = invalidObject({ group: type.group, kind }, name, [error]);
  return { wrong: status.message, status, patchStatus: status };
}

function noObject(body: unknown, type: ResourceType): Undecodable {
  if (body === undefined) {
    const wrong = "couldn't get version/kind; json parse error: unexpected end of JSON input";
    return {
      wrong,
      status: badRequest(`the object provided is unrecognized (must be of type ${type.kind}): ${wrong} (<empty>)`),
    };
  }
  const text = JSON.stringify(body);
  const found = Array.isArray(body) ? "array" : typeof body === "boolean" ? "bool" : typeof body;
  const struct =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  const wrong = `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type ${struct}`;
  return unrecognised(wrong, text, type);
}

/** The complaint shows how the body begins: an object as text, anything else in hexadecimal. */
function unrecognised(wrong: string, text: string, type: ResourceType): Undecodable {
  const shown = text.startsWith("{") ? text.slice(0, 30) : Buffer.from(text.slice(0, 30)).toString("hex");
  const begin = text.length > 30 ? `${shown} ...` : shown;
  const message = `the object provided is unrecognized (must be of type ${type.kind}): ${wrong} (${begin})`;
  return { wrong, status: badRequest(message) };
}

/** A field of the head as text; one that is no text can match nothing. */
function headText(value: unknown): string {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

function undecodable(
  wrong: string,
  type: ResourceType,
  found: { readonly kind: string; readonly version: string },
): Undecodable {
  const message = `${found.kind} in version ${JSON.stringify(found.version)} cannot be handled as a ${type.kind}: ${wrong}`;
  return { wrong, status: badRequest(message) };
}
