import { type FieldError, notSupported, tooLong } from "../field-error.ts";
import { invalidObject } from "../status.ts";
import type { ApiStatus } from "../types.ts";

/** What a write's query string asks for. */
export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: "Ignore" | "Warn" | "Strict";
}

/** Reads `dryRun`, `fieldValidation` and `fieldManager`; `kind` is that of the options, for example `CreateOptions`. */
export function readWriteOptions(query: URLSearchParams, kind: string): WriteOptions | { readonly refused: ApiStatus } {
  const errors: FieldError[] = [];
  const dryRun = query.getAll("dryRun").filter((v) => v !== "");
  if (dryRun.some((value) => value !== "All")) {
    const list = dryRun.map((value) => JSON.stringify(value)).join(",");
    const body = `Unsupported value: [${list}]: supported values: "All"`;
    errors.push({ type: "FieldValueNotSupported", field: "dryRun", body });
  }
  const manager = query.get("fieldManager") ?? "";
  if (Buffer.byteLength(manager) > 128) errors.push(tooLong("fieldManager", 128));
  const asked = query.get("fieldValidation") ?? "";
  const fieldValidation = asked === "Ignore" || asked === "Strict" ? asked : "Warn";
  if (asked !== "" && asked !== fieldValidation) {
    errors.push(notSupported("fieldValidation", asked, ["", "Ignore", "Strict", "Warn"]));
  }
  if (errors.length > 0) return { refused: invalidObject({ group: "meta.k8s.io", kind }, "", errors) };
  return { dryRun: dryRun.length > 0, fieldValidation };
}
