/** When the same request may be sent again. */
export type Retry = "now" | "backoff" | "after" | "never";

interface Common {
  /** Which cluster was asked: Hawser's name for it and its part (`leader of east`, `east`). */
  readonly cluster: string;
  /** What was tried: `patch`, `create`, `get`, `list`, `watch`, `update`, `delete`, `connect`. */
  readonly operation: string;
  /** Against what: `memberclusterannounces antrea-multicluster/member-announce-from-east`. */
  readonly object: string;
  readonly retry: Retry;
  /** What was tried, against what, what came back, what to do; at most 4,096 bytes, never a body, header or token. */
  readonly message: string;
}

/** What a Kubernetes API server, or the way to it, can answer other than success. HTTP status codes per the API conventions. */
export type KubeError = Common &
  (
    | { readonly kind: "unauthorized"; readonly status: 401 }
    | { readonly kind: "forbidden"; readonly status: 403 }
    | { readonly kind: "notFound"; readonly status: 404 }
    | { readonly kind: "conflict"; readonly status: 409 }
    | { readonly kind: "alreadyExists"; readonly status: 409 }
    | { readonly kind: "gone"; readonly status: 410 }
    | { readonly kind: "tooManyRequests"; readonly status: 429; readonly retryAfterMs: number }
    | { readonly kind: "invalid"; readonly status: number; readonly field: string | undefined }
    /** An admission webhook said no; its own words are in `denial`, the webhook's name in `webhook`. */
    | { readonly kind: "webhookDenied"; readonly status: number; readonly webhook: string; readonly denial: string }
    /** An admission webhook could not be called. */
    | { readonly kind: "webhookUnavailable"; readonly status: number; readonly webhook: string }
    | { readonly kind: "unavailable"; readonly status: number; readonly retryAfterMs: number | undefined }
    | { readonly kind: "timeout"; readonly phase: "connect" | "answer" | "body" }
    | { readonly kind: "network"; readonly code: string }
    | { readonly kind: "tls"; readonly why: string }
    /** The answer was not Kubernetes': a proxy's page, truncated or foreign JSON, a redirect. */
    | { readonly kind: "unexpected"; readonly status: number; readonly contentType: string | undefined }
  );

/** The names of {@link KubeError}. */
export type KubeErrorKind = KubeError["kind"];
