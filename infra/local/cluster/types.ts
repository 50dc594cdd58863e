/** A JSON object of the API. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** An API object as stored and sent. */
export interface ApiObject {
  apiVersion: string;
  kind: string;
  metadata: ApiMeta;
  [field: string]: unknown;
}

/** ObjectMeta, as far as the server works with it. */
export interface ApiMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: Record<string, unknown>[];
  [field: string]: unknown;
}

/** Kubernetes' `Status` body (meta/v1) for anything but success. */
export interface ApiStatus {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: Record<string, unknown>;
  readonly status: "Failure" | "Success";
  readonly message: string;
  /** Left out where the server has no word for it. */
  readonly reason?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly code: number;
}

/** Who asks, as authentication found it. */
export interface UserInfo {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** The verbs of the API (authorisation's words). */
export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** A resource request, taken apart. */
export interface ResourceRequest {
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly query: URLSearchParams;
  /** `Content-Type` of a body, lower case, without parameters. */
  readonly contentType?: string;
  /** The parsed JSON body (YAML accepted); absent where the verb has none. */
  readonly body?: unknown;
  readonly user: UserInfo;
  /** Fires when the client has gone or the request's `timeout` is over. */
  readonly signal: AbortSignal;
}

/** What comes back: an object, a list or a Status, with its HTTP code and headers such as `Warning` or `Retry-After`. */
export interface ApiReply {
  readonly code: number;
  readonly body: ApiObject | ApiStatus | Record<string, unknown>;
  /** Sent instead of the body, as plain text. */
  readonly plain?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One event of a watch, ready to be written as a line. */
export interface WatchEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

/** Either an answer that refuses the watch, or the events until the watch ends. */
export type WatchReply =
  | { readonly kind: "refused"; readonly reply: ApiReply }
  | { readonly kind: "events"; readonly events: AsyncIterable<WatchEvent> };

/** What admission is asked (admission.k8s.io/v1 AdmissionRequest, in our words). */
export interface AdmissionAttributes {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name: string;
  readonly object?: ApiObject;
  readonly oldObject?: ApiObject;
  readonly dryRun: boolean;
  /** The request's CreateOptions, UpdateOptions or DeleteOptions, as far as they say anything. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly user: UserInfo;
}

/** Admission's word: the (possibly mutated) object with warnings, or the Status that refuses. */
export type AdmissionResult =
  | { readonly allowed: true; readonly object: ApiObject | undefined; readonly warnings: readonly string[] }
  | { readonly allowed: false; readonly status: ApiStatus; readonly warnings?: readonly string[] };

/** Asked by the engine for each write, after defaulting and before validation and storage. `phase` says which webhooks. */
export type Admission = (phase: "mutating" | "validating", attributes: AdmissionAttributes) => Promise<AdmissionResult>;

/**
 * A resource that is a question to the server, not a thing in its storage: the reviews of `authorization.k8s.io` and
 * `authentication.k8s.io`, and `serviceaccounts/token`. The engine shows it in discovery (verb `create` alone) and
 * `serves` it; the front answers it.
 */
export interface VirtualResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  readonly subresource?: string;
  /** Of a subresource: the group and version of its kind, where they are not the resource's own. */
  readonly kindGroup?: { readonly group: string; readonly version: string };
  readonly namespaced: boolean;
  create(request: ResourceRequest): Promise<ApiReply>;
}

/** The API's machinery behind authentication and authorisation: resources, schemas, storage, watches. */
export interface Engine {
  execute(request: ResourceRequest): Promise<ApiReply>;
  watch(request: ResourceRequest): Promise<WatchReply>;
  /** The discovery documents: `/api`, `/apis`, `/api/v1`, `/apis/<group>`, `/apis/<group>/<version>`; undefined where there is none. */
  discovery(path: string): Record<string, unknown> | undefined;
  /** True when the resource (and subresource) is served. */
  serves(group: string, version: string, resource: string, subresource?: string): boolean;
  /** True for a group of the server's own, false for those of custom resources. */
  isBuiltIn(group: string): boolean;
  /** All objects of a served type, for the server's own use (RBAC, webhook configurations, ServiceAccount tokens). */
  readAll(group: string, resource: string, namespace?: string): readonly ApiObject[];
  readOne(group: string, resource: string, namespace: string | undefined, name: string): ApiObject | undefined;
  /**
   * Changes with every write or delete of an object of the type, `restore` included, at the cost of a look-up: what is
   * derived from all objects of a type (parsed RBAC, webhook configurations) is kept as long as this stays the same.
   */
  collectionVersion(group: string, resource: string): string;
  /** Writes as the server itself: no authorisation, no admission. Create or replace, for seeding a cluster. */
  apply(object: unknown): Promise<ApiObject>;
  /** Forgets history up to now, as etcd's compaction does: watches and continue tokens from before answer 410. */
  compact(): void;
  /** Takes a copy of all data; `restore` puts it back with its old resourceVersions, as a restored backup does. */
  snapshot(): unknown;
  restore(snapshot: unknown): void;
  close(): void;
}
