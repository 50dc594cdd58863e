import type { V1Status } from "@kubernetes/client-node";

/** What Hawser reads of a Kubernetes `Status` (meta/v1). */
export interface StatusBody {
  readonly message: string;
  readonly reason: string;
  readonly code: number | undefined;
  /** `details.kind`: the resource that the failure is about. */
  readonly about: string | undefined;
  /** The first field that was found wrong. */
  readonly field: string | undefined;
  /** Reasons of the single causes. */
  readonly causes: readonly string[];
  readonly retryAfterSeconds: number | undefined;
}

/** Reads a parsed body as a failed `Status`; undefined when it is anything else. Trusts no field to be of its type. */
export function readStatus(value: unknown): StatusBody | undefined {
  if (!isRecord(value) || value["kind"] !== "Status" || value["status"] === "Success") return undefined;
  const status: { readonly [K in keyof V1Status]: unknown } = value;
  const details = isRecord(status.details) ? status.details : {};
  const causes = Array.isArray(details["causes"]) ? details["causes"].filter(isRecord) : [];
  return {
    message: text(status.message) ?? "",
    reason: text(status.reason) ?? "",
    code: number(status.code),
    about: text(details["kind"]),
    field: causes.map((cause) => text(cause["field"])).find((field) => field !== undefined && field !== ""),
    causes: causes.flatMap((cause) => text(cause["reason"]) ?? []),
    retryAfterSeconds: number(details["retryAfterSeconds"]),
  };
}

/** What an admission webhook did to a request. */
export type WebhookWord =
  | { readonly kind: "denied"; readonly webhook: string; readonly denial: string }
  | { readonly kind: "unavailable"; readonly webhook: string };

/**
 * Finds an admission webhook's refusal, or the failure to call one, in a Status message. The API server writes both in
 * fixed words at the beginning of the message (`apiserver/pkg/admission/plugin/webhook/errors`), with whatever code the
 * webhook chose for a refusal, so that the words and not the code tell it from a refusal by RBAC.
 */
export function readWebhookWord(message: string): WebhookWord | undefined {
  const denied = /^admission webhook "([^"]*)" denied the request(?:: ?([\s\S]*)| without explanation[\s\S]*)?$/.exec(
    message,
  );
  if (denied !== null) return { kind: "denied", webhook: denied[1] ?? "", denial: denied[2] ?? "" };
  const failed = /^(?:Internal error occurred: )?failed calling (?:admission )?webhook "([^"]*)"/.exec(message);
  return failed === null ? undefined : { kind: "unavailable", webhook: failed[1] ?? "" };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
