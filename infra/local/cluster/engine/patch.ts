import fastJsonPatch from "fast-json-patch";
import mergePatch from "json-merge-patch";
import { badRequest, failure, requestEntityTooLarge, unsupportedMediaType, unsupportedPatchType } from "../status.ts";
import type { ApiObject, ApiStatus } from "../types.ts";
import { cloneJson, isJsonArray, isJsonObject } from "./json.ts";
import { applyStrategicMergePatch } from "./strategic-merge.ts";

const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
/** Named among the accepted types as on real servers, though it is not accepted here. */
const APPLY = "application/apply-patch+yaml";
const MAX_OPERATIONS = 10_000;

/** The patched object, which shares nothing with the old one, or a refusal. */
export type Patched = { readonly value: unknown } | { readonly refused: ApiStatus };

/** Applies a patch of a content type. Custom resources know no strategic merge patch; nobody here knows server-side apply. */
export function applyPatch(old: ApiObject, contentType: string | undefined, body: unknown, custom: boolean): Patched {
  switch (contentType) {
    case JSON_PATCH:
      return applyJsonPatch(old, body);
    case MERGE_PATCH:
      return applyMergePatch(old, body);
    case STRATEGIC:
      if (!custom) return isJsonObject(body) ? { value: applyStrategicMergePatch(old, body) } : notAnObject(body);
      break;
    default:
  }
  // Custom resources are served by an older part of the server, which names what it takes.
  return { refused: custom ? unsupportedMediaType([JSON_PATCH, MERGE_PATCH, APPLY]) : unsupportedPatchType() };
}

function applyMergePatch(old: ApiObject, body: unknown): Patched {
  if (!isJsonObject(body)) return notAnObject(body);
  return { value: mergePatch.apply(cloneJson(old), cloneJson(body)) };
}

function notAnObject(body: unknown): Patched {
  const found = isJsonArray(body) ? "array" : typeof body === "boolean" ? "bool" : typeof body;
  const words = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
  return { refused: badRequest(`error decoding patch: ${words}`) };
}

type Operation = fastJsonPatch.Operation;

function isOperation(value: unknown): value is Operation {
  return isJsonObject(value) && typeof value["op"] === "string" && typeof value["path"] === "string";
}

function applyJsonPatch(old: ApiObject, body: unknown): Patched {
  if (!isJsonArray(body)) {
    const message = "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp";
    return { refused: badRequest(message) };
  }
  if (body.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${body.length}`;
    return { refused: requestEntityTooLarge(message) };
  }
  if (!body.every(isOperation)) return { refused: badRequest("error decoding patch: an operation needs op and path") };
  try {
    return { value: fastJsonPatch.applyPatch(cloneJson(old), cloneJson(body), true, true, true).newDocument };
  } catch (error) {
    if (!(error instanceof fastJsonPatch.JsonPatchError)) throw error;
    return { refused: failure(422, "Invalid", "the server rejected our request due to an error in our request", {}) };
  }
}
