import jsonPatch, { type Operation } from "fast-json-patch";
import { failed, ok, type Result } from "../../../../lib/base/result.ts";
import { arrayIn, type JsonObject, objectIn, textIn } from "../engine/json.ts";
import { failure, internalError } from "../status.ts";
import type { ApiObject, ApiStatus } from "../types.ts";

/** What came of asking a webhook. */
export type Verdict =
  | { readonly kind: "allowed"; readonly object: ApiObject | undefined; readonly warnings: readonly string[] }
  | { readonly kind: "denied"; readonly status: ApiStatus; readonly warnings: readonly string[] }
  /** It could not be asked, or its answer is none: what follows is for its failurePolicy to say. */
  | { readonly kind: "unusable"; readonly why: string };

/** What a response answers to. */
export interface Question {
  /** The webhook's name, quoted. */
  readonly quoted: string;
  readonly uid: string;
  readonly mutating: boolean;
  readonly object: ApiObject | undefined;
}

/** Reads the AdmissionReview that a webhook has sent back. */
export function readResponse(review: JsonObject, question: Question): Verdict {
  const checked = checkReview(review, question);
  if (!checked.ok) return { kind: "unusable", why: `received invalid webhook response: ${checked.error}` };
  const response = checked.value;
  const warnings = arrayIn(response, "warnings").filter((w) => typeof w === "string");
  if (response["allowed"] !== true) {
    return { kind: "denied", status: denial(question.quoted, objectIn(response, "status")), warnings };
  }
  return patched(question.object, response, warnings);
}

function checkReview(review: JsonObject, { uid, mutating }: Question): Result<JsonObject, string> {
  const response = objectIn(review, "response");
  if (Object.keys(response).length === 0) return failed("webhook response was absent");
  const got = textIn(response, "uid");
  if (got !== uid) return failed(`expected response.uid="${uid}", got "${got}"`);
  const kind = `${textIn(review, "apiVersion")}, Kind=${textIn(review, "kind")}`;
  const wanted = "admission.k8s.io/v1, Kind=AdmissionReview";
  if (kind !== wanted) return failed(`expected webhook response of ${wanted}, got ${kind}`);
  const [patch, patchType] = [textIn(response, "patch"), response["patchType"]];
  if (!mutating && patch !== "") return failed("validating webhook may not return response.patch");
  if (!mutating && patchType !== undefined) return failed("validating webhook may not return response.patchType");
  if (patch !== "" && patchType === undefined) {
    return failed("webhook returned response.patch but not response.patchType");
  }
  if (patch === "" && patchType !== undefined) {
    return failed("webhook returned response.patchType but not response.patch");
  }
  return ok(response);
}

/** A webhook's "no" in the words of Kubernetes; codes below 400 make no sense with a denial and become 400. */
function denial(quoted: string, status: JsonObject): ApiStatus {
  const code = typeof status["code"] === "number" && status["code"] >= 400 ? status["code"] : 400;
  const message = textIn(status, "message");
  const reason = textIn(status, "reason");
  const why = message || reason;
  const said = `admission webhook ${quoted} denied the request${why === "" ? " without explanation" : `: ${why}`}`;
  const details = status["details"];
  return {
    ...failure(code, reason, said),
    ...(typeof details === "object" && details !== null ? { details: objectIn(status, "details") } : {}),
  };
}

function patched(object: ApiObject | undefined, response: JsonObject, warnings: readonly string[]): Verdict {
  const patch = textIn(response, "patch");
  if (patch === "" || object === undefined) return { kind: "allowed", object, warnings };
  let operations: Operation[];
  try {
    operations = JSON.parse(Buffer.from(patch, "base64").toString()) as Operation[];
  } catch (error) {
    return { kind: "unusable", why: `received undecodable patch in webhook response: ${firstLine(error)}` };
  }
  try {
    const result = jsonPatch.applyPatch(object, operations, true, false);
    return { kind: "allowed", object: result.newDocument, warnings };
  } catch (error) {
    // A patch that does not fit is no failure of the call: no failurePolicy excuses it.
    return { kind: "denied", status: internalError(firstLine(error)), warnings };
  }
}

function firstLine(error: unknown): string {
  return error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
}
