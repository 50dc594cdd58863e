import { notSupported } from "../field-error.ts";
import { badRequest, invalidObject } from "../status.ts";
import type { ApiStatus, ResourceRequest } from "../types.ts";
import { isJsonObject, objectIn } from "./json.ts";

const POLICIES = ["Foreground", "Background", "Orphan"] as const;

/** What a delete asks for, from its body or its query string. */
export interface DeleteOptions {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly dryRun: boolean;
  /** What becomes of dependents; undefined leaves it to the object's finalizers. */
  readonly propagation: "Foreground" | "Background" | "Orphan" | undefined;
}

/** Reads metav1.DeleteOptions. */
export function readDeleteOptions(request: ResourceRequest): DeleteOptions | { readonly refused: ApiStatus } {
  const { body, query } = request;
  if (body !== undefined && body !== null && !isJsonObject(body)) {
    return { refused: badRequest("couldn't get version/kind; json parse error: the body is no object") };
  }
  const given = isJsonObject(body) ? body : {};
  const policy = text(given["propagationPolicy"]) ?? query.get("propagationPolicy") ?? undefined;
  if (policy !== undefined && !POLICIES.some((known) => known === policy)) {
    const error = notSupported("propagationPolicy", policy, [...POLICIES, "nil"]);
    return { refused: invalidObject({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [error]) };
  }
  const dryRun = [...(Array.isArray(given["dryRun"]) ? given["dryRun"] : []), ...query.getAll("dryRun")].filter(
    (v) => v !== "",
  );
  const odd = dryRun.find((v) => v !== "All");
  if (odd !== undefined) {
    const error = notSupported("dryRun", odd, ["All"]);
    return { refused: invalidObject({ group: "meta.k8s.io", kind: "DeleteOptions" }, "", [error]) };
  }
  const preconditions = objectIn(given, "preconditions");
  return {
    uid: text(preconditions["uid"]),
    resourceVersion: text(preconditions["resourceVersion"]),
    dryRun: dryRun.length > 0,
    propagation: POLICIES.find((known) => known === policy),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
