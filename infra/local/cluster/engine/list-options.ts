import { describeFieldError, type FieldError, fieldForbidden, invalid, notSupported } from "../field-error.ts";
import { badRequest, failure, invalidObject } from "../status.ts";
import type { ApiStatus } from "../types.ts";
import type { Refused } from "./core.ts";

/** What a list or watch says of resourceVersions and pages; absent parameters are empty. */
interface VersionOptions {
  readonly match: string;
  readonly given: string;
  readonly continued: string;
  readonly initialEvents: string;
}

const INT64 = { least: -(2n ** 63n), most: 2n ** 63n - 1n };

/** Refuses the options of a list or watch (meta/v1 ListOptions) that make no sense, numbers first, as real servers do. */
export function checkListOptions(query: URLSearchParams, verb: "list" | "watch"): Refused | undefined {
  for (const name of ["timeoutSeconds", "limit"]) {
    const wrong = query.has(name) ? numberProblem(query.get(name) ?? "") : undefined;
    if (wrong !== undefined) return { refused: badRequest(wrong) };
  }
  const options = {
    match: query.get("resourceVersionMatch") ?? "",
    given: query.get("resourceVersion") ?? "",
    continued: query.get("continue") ?? "",
    initialEvents: query.get("sendInitialEvents") ?? "",
  };
  const errors = verb === "list" ? listProblems(options) : watchProblems(options);
  if (errors.length === 0) return undefined;
  return { refused: invalidObject({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors) };
}

/** The limit of a page; undefined for none. */
export function readLimit(query: URLSearchParams): number | undefined {
  const limit = Number(query.get("limit") ?? "");
  return limit > 0 ? limit : undefined;
}

/** A resourceVersion of a query; undefined where none is given. */
export function readResourceVersion(text: string | null): number | undefined | { readonly problem: string } {
  if (text === null || text === "") return undefined;
  if (/^\d+$/.test(text)) return Number(text);
  const error = invalid("resourceVersion", text, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
  return { problem: describeFieldError(error) };
}

/** What a read or a watch from a resourceVersion that is none is answered with; lists say it with 400. */
export function unreadableVersion(problem: string): ApiStatus {
  return failure(500, "", problem);
}

function numberProblem(text: string): string | undefined {
  const words = `strconv.ParseInt: parsing ${JSON.stringify(text)}`;
  if (!/^[-+]?\d+$/.test(text)) return `${words}: invalid syntax`;
  const value = BigInt(text.replace(/^\+/, ""));
  return value < INT64.least || value > INT64.most ? `${words}: value out of range` : undefined;
}

function forbiddenMatch(words: string): FieldError {
  return fieldForbidden("resourceVersionMatch", words);
}

function listProblems({ match, given, continued, initialEvents }: VersionOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (match !== "") {
    if (given === "")
      errors.push(forbiddenMatch("resourceVersionMatch is forbidden unless resourceVersion is provided"));
    if (continued !== "") errors.push(forbiddenMatch("resourceVersionMatch is forbidden when continue is provided"));
    if (match !== "Exact" && match !== "NotOlderThan") {
      errors.push(notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]));
    }
    if (match === "Exact" && given === "0") {
      errors.push(forbiddenMatch(`resourceVersionMatch "exact" is forbidden for resourceVersion "0"`));
    }
  }
  if (initialEvents !== "") {
    errors.push(fieldForbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
  }
  return errors;
}

function watchProblems({ match, continued, initialEvents }: VersionOptions): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (initialEvents !== "" && match !== "NotOlderThan") {
    errors.push(forbiddenMatch("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  }
  if (initialEvents === "" && match !== "") {
    errors.push(forbiddenMatch("resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  }
  if (match !== "" && match !== "NotOlderThan") {
    errors.push(notSupported("resourceVersionMatch", match, ["NotOlderThan"]));
  }
  if (continued !== "") errors.push(forbiddenMatch("resourceVersionMatch is forbidden when continue is provided"));
  return errors;
}
