import type { Result } from "../base/result.ts";
import type { KubeError } from "./errors.ts";
import type { WatchEnd, WatchEvent, WatchOptions } from "./watch.ts";

/** A JSON object of the API, as it is on the wire: unknown fields survive a read and a write. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMeta;
  readonly [field: string]: unknown;
}

/** The fields of ObjectMeta that Hawser reads; spelled as on the wire. */
export interface ObjectMeta {
  readonly name?: string;
  readonly generateName?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly [field: string]: unknown;
}

/** A resource type: `group` is empty for the core group, `resource` the plural. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** One object's address. */
export interface ObjectRef {
  readonly type: ResourceType;
  readonly namespace?: string;
  readonly name: string;
}

/** Every call has a time limit and can be ended from outside. */
export interface CallOptions {
  /** The whole call, in milliseconds, connection and retries included. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** What must be true of the object for a delete. */
export interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** An answer and what came with it. */
export interface Answer<T> {
  readonly object: T;
  /** Difference between the server's `Date` header and our clock when it arrived, in milliseconds; positive when the server is ahead. */
  readonly clockAheadMs: number | undefined;
}

/** One cluster, seen with one credential. Every method answers with a {@link KubeError} for what can be expected to fail. */
export interface KubeClient {
  /** Name of the cluster in messages. */
  readonly cluster: string;
  get(ref: ObjectRef, options: CallOptions): Promise<Result<Answer<KubeObject>, KubeError>>;
  /** POST; a dry run is admitted and answered, and makes nothing. */
  create(
    type: ResourceType,
    namespace: string | undefined,
    object: KubeObject,
    options: CallOptions & { readonly dryRun?: boolean },
  ): Promise<Result<Answer<KubeObject>, KubeError>>;
  /** PUT; the object carries its resourceVersion. */
  update(ref: ObjectRef, object: KubeObject, options: CallOptions): Promise<Result<Answer<KubeObject>, KubeError>>;
  /** PUT to `/status`. */
  updateStatus(
    ref: ObjectRef,
    object: KubeObject,
    options: CallOptions,
  ): Promise<Result<Answer<KubeObject>, KubeError>>;
  /** PATCH with `application/merge-patch+json` (RFC 7396); a dry run is admitted and answered, and changes nothing. */
  mergePatch(
    ref: ObjectRef,
    patch: object,
    options: CallOptions & { readonly dryRun?: boolean },
  ): Promise<Result<Answer<KubeObject>, KubeError>>;
  /** Merge PATCH to `/status`. */
  mergePatchStatus(ref: ObjectRef, patch: object, options: CallOptions): Promise<Result<Answer<KubeObject>, KubeError>>;
  delete(ref: ObjectRef, preconditions: Preconditions, options: CallOptions): Promise<Result<void, KubeError>>;
  /** All objects of a type, page by page (`limit`, `continue`), never a mix of two lists; with the list's resourceVersion. */
  list(
    type: ResourceType,
    namespace: string | undefined,
    options: CallOptions & { readonly labelSelector?: string; readonly fieldSelector?: string },
  ): Promise<Result<{ readonly items: readonly KubeObject[]; readonly resourceVersion: string }, KubeError>>;
  /**
   * Watches all objects of a type from a version on, with bookmarks: one request, asked once. Events are handed on in
   * order, as they come; `onEvent` must neither wait nor throw. Resolves when the watch has ended, however it did.
   */
  watch(
    type: ResourceType,
    namespace: string | undefined,
    options: WatchOptions,
    onEvent: (event: WatchEvent) => void,
  ): Promise<WatchEnd>;
  /** GET of a non-resource path (`/version`, `/livez`); answers the text. */
  getText(path: string, options: CallOptions): Promise<Result<Answer<string>, KubeError>>;
  /** Ends the connections that only this client uses. */
  close(): Promise<void>;
}
