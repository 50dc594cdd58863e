import { failed, ok, type Result } from "../base/result.ts";
import { ApiCaller, type ApiRequest } from "./api-call.ts";
import type { Answer, CallOptions, KubeClient, KubeObject, ObjectRef, Preconditions, ResourceType } from "./client.ts";
import type { Connection, Purpose } from "./connection.ts";
import { errorFromBadAddress, errorFromBadBody, errorFromFailure } from "./error-mapping.ts";
import type { KubeError } from "./errors.ts";
import type { HttpAnswer } from "./exchange.ts";
import { type CompleteList, type ListPage, readAllPages, readListPage } from "./paged-list.ts";
import type { Connections } from "./pool.ts";
import { collectionPath, objectPath } from "./request-path.ts";
import { Lines, readWatchLine, type WatchEnd, type WatchEvent, type WatchOptions } from "./watch.ts";

const JSON_TYPE = "application/json";
const MERGE_PATCH_TYPE = "application/merge-patch+json";
const PAGE_SIZE = 500;
/** A watch that its server does not end in time is ended by us so much later, in milliseconds. */
const WATCH_GRACE_MS = 2_000;
const WATCH_ANSWER = { status: 200, headers: { "content-type": JSON_TYPE }, body: Buffer.alloc(0), cutBody: false };

/** What a client is made from. */
export interface KubeClientOptions {
  /** Name of the cluster in messages (`east`, `leader of east`). */
  readonly cluster: string;
  readonly connection: Connection;
  readonly purpose: Purpose;
  readonly connections: Connections;
}

/** A client of one cluster with one credential, over the process' shared connections; cheap to make. */
export function createKubeClient(options: KubeClientOptions): KubeClient {
  const { cluster, connections, connection, purpose } = options;
  return new HttpKubeClient(connections, new ApiCaller(cluster, connections, connection, purpose));
}

type ObjectAnswer = Promise<Result<Answer<KubeObject>, KubeError>>;

/** {@link KubeClient} over HTTP. Retries are decided in `retry-policy.ts`, errors made in `error-mapping.ts`. */
class HttpKubeClient implements KubeClient {
  readonly cluster: string;
  readonly #connections: Connections;
  readonly #caller: ApiCaller;

  constructor(connections: Connections, caller: ApiCaller) {
    this.cluster = caller.cluster;
    this.#connections = connections;
    this.#caller = caller;
  }

  get(ref: ObjectRef, options: CallOptions): ObjectAnswer {
    const path = objectPath(ref.type, ref.namespace, ref.name);
    return this.#object({ method: "GET", path, operation: "get", repeatable: "read" }, describe(ref), options);
  }

  create(
    type: ResourceType,
    namespace: string | undefined,
    object: KubeObject,
    options: CallOptions & { readonly dryRun?: boolean },
  ): ObjectAnswer {
    const path = dryPath(collectionPath(type, namespace), options.dryRun);
    const name = object.metadata.name ?? `${object.metadata.generateName ?? ""}*`;
    const write = { method: "POST", path, operation: "create", repeatable: "once" } as const;
    return this.#write(write, JSON_TYPE, object, describe({ type, name, ...scope(namespace) }), options);
  }

  update(ref: ObjectRef, object: KubeObject, options: CallOptions): ObjectAnswer {
    const path = objectPath(ref.type, ref.namespace, ref.name);
    const write = { method: "PUT", path, operation: "update", repeatable: "once" } as const;
    return this.#write(write, JSON_TYPE, object, describe(ref), options);
  }

  updateStatus(ref: ObjectRef, object: KubeObject, options: CallOptions): ObjectAnswer {
    const path = objectPath(ref.type, ref.namespace, ref.name, "status");
    const write = { method: "PUT", path, operation: "update", repeatable: "once" } as const;
    return this.#write(write, JSON_TYPE, object, `${describe(ref)}/status`, options);
  }

  mergePatch(ref: ObjectRef, patch: object, options: CallOptions & { readonly dryRun?: boolean }): ObjectAnswer {
    const path = dryPath(objectPath(ref.type, ref.namespace, ref.name), options.dryRun);
    const write = { method: "PATCH", path, operation: "patch", repeatable: patchRepeatable(patch) } as const;
    return this.#write(write, MERGE_PATCH_TYPE, patch, describe(ref), options);
  }

  mergePatchStatus(ref: ObjectRef, patch: object, options: CallOptions): ObjectAnswer {
    const path = objectPath(ref.type, ref.namespace, ref.name, "status");
    const write = { method: "PATCH", path, operation: "patch", repeatable: patchRepeatable(patch) } as const;
    return this.#write(write, MERGE_PATCH_TYPE, patch, `${describe(ref)}/status`, options);
  }

  async delete(ref: ObjectRef, preconditions: Preconditions, options: CallOptions): Promise<Result<void, KubeError>> {
    const path = objectPath(ref.type, ref.namespace, ref.name);
    const object = describe(ref);
    if (path === undefined) return failed(errorFromBadAddress(this.#caller.context("delete", object)));
    const body = JSON.stringify({ apiVersion: "v1", kind: "DeleteOptions", preconditions });
    // Without a UID a repeated delete might take a new object of the same name.
    const repeatable = preconditions.uid === undefined ? "once" : "idempotent";
    const request: ApiRequest = {
      method: "DELETE",
      path,
      operation: "delete",
      object,
      repeatable,
      contentType: JSON_TYPE,
      body,
      serverTimeout: true,
    };
    const called = await this.#caller.call(request, options);
    return called.ok ? ok(undefined) : called;
  }

  async list(
    type: ResourceType,
    namespace: string | undefined,
    options: CallOptions & { readonly labelSelector?: string; readonly fieldSelector?: string },
  ): Promise<Result<CompleteList, KubeError>> {
    const path = collectionPath(type, namespace);
    const object = namespace === undefined ? type.resource : `${type.resource} ${namespace}`;
    const context = this.#caller.context("list", object);
    if (path === undefined) return failed(errorFromBadAddress(context));
    const { clock } = this.#connections;
    const end = clock.monotonicMs() + options.timeoutMs;
    const readPage = async (continueToken: string): Promise<Result<ListPage, KubeError>> => {
      const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
      if (options.labelSelector !== undefined) query.set("labelSelector", options.labelSelector);
      if (options.fieldSelector !== undefined) query.set("fieldSelector", options.fieldSelector);
      if (continueToken !== "") query.set("continue", continueToken);
      const called = await this.#caller.call(
        {
          method: "GET",
          path: `${path}?${query.toString()}`,
          operation: "list",
          object,
          repeatable: "read",
          serverTimeout: true,
        },
        { ...options, timeoutMs: Math.max(0, end - clock.monotonicMs()) },
      );
      if (!called.ok) return called;
      const page = readListPage(parseJson(called.value.body));
      return page === undefined ? failed(errorFromBadBody(called.value, context)) : ok(page);
    };
    return await readAllPages(readPage, () =>
      errorFromFailure({ kind: "tooLarge", phase: "body" }, context, options.timeoutMs),
    );
  }

  async watch(
    type: ResourceType,
    namespace: string | undefined,
    options: WatchOptions,
    onEvent: (event: WatchEvent) => void,
  ): Promise<WatchEnd> {
    const path = collectionPath(type, namespace);
    const object = namespace === undefined ? type.resource : `${type.resource} ${namespace}`;
    const context = this.#caller.context("watch", object);
    if (path === undefined) return { kind: "failed", error: errorFromBadAddress(context) };
    const query = new URLSearchParams({
      watch: "true",
      allowWatchBookmarks: "true",
      resourceVersion: options.resourceVersion,
      timeoutSeconds: String(Math.max(1, Math.floor(options.forMs / 1_000))),
    });
    const lines = new Lines();
    let error: KubeError | undefined;
    const take = (line: string): void => {
      const read = error === undefined ? readWatchLine(line) : undefined;
      if (read?.kind === "event") onEvent(read.event);
      if (read?.kind === "error") error = this.#caller.errorFromEvent(read.object, { operation: "watch", object });
      if (read?.kind === "malformed") error = errorFromBadBody(WATCH_ANSWER, context);
    };
    const onPart = (part: Buffer): boolean => {
      const complete = lines.take(part);
      if (complete === undefined) error = errorFromBadBody(WATCH_ANSWER, context);
      for (const line of complete ?? []) take(line);
      return error === undefined;
    };
    const { answerMs, idleMs, forMs, signal } = options;
    const limits = { answerMs, idleMs, totalMs: forMs + WATCH_GRACE_MS, signal };
    const request = { path: `${path}?${query.toString()}`, operation: "watch", object };
    const end = await this.#caller.stream(request, limits, onPart);
    if (error !== undefined) return { kind: "failed", error };
    if (end.kind === "error") return { kind: "failed", error: end.error };
    if (end.kind !== "failed") return end;
    if (end.failure.kind === "ended") return { kind: "stopped" };
    return { kind: "failed", error: errorFromFailure(end.failure, context, answerMs) };
  }

  async getText(path: string, options: CallOptions): Promise<Result<Answer<string>, KubeError>> {
    const called = await this.#caller.call(
      { method: "GET", path, operation: "get", object: path, repeatable: "read", serverTimeout: false },
      options,
    );
    if (!called.ok) return called;
    return ok({ object: called.value.body.toString("utf8"), clockAheadMs: this.#clockAhead(called.value) });
  }

  close(): Promise<void> {
    return this.#caller.close();
  }

  #write(call: Call, contentType: string, body: object, object: string, options: CallOptions): ObjectAnswer {
    return this.#object({ ...call, contentType, body: JSON.stringify(body) }, object, options);
  }

  async #object(call: Call, object: string, options: CallOptions): ObjectAnswer {
    const { path, operation } = call;
    if (path === undefined) return failed(errorFromBadAddress(this.#caller.context(operation, object)));
    const called = await this.#caller.call({ ...call, path, object, serverTimeout: true }, options);
    if (!called.ok) return called;
    const value = parseJson(called.value.body);
    if (!isKubeObject(value)) {
      return failed(errorFromBadBody(called.value, this.#caller.context(operation, object)));
    }
    return ok({ object: value, clockAheadMs: this.#clockAhead(called.value) });
  }

  /** The header has whole seconds, so that the difference is true to a second. */
  #clockAhead({ headers }: HttpAnswer): number | undefined {
    const { date } = headers;
    const server = typeof date === "string" ? Date.parse(date) : Number.NaN;
    return Number.isNaN(server) ? undefined : server - this.#connections.clock.now().getTime();
  }
}

interface Call {
  readonly method: ApiRequest["method"];
  readonly path: string | undefined;
  readonly operation: string;
  readonly repeatable: ApiRequest["repeatable"];
  readonly contentType?: string;
  readonly body?: string;
}

/** A write that is only asked about (Kubernetes API concepts, "Dry-run"). */
function dryPath(path: string | undefined, dryRun: boolean | undefined): string | undefined {
  return path !== undefined && dryRun === true ? `${path}?dryRun=All` : path;
}

/** A merge patch has the same effect twice, unless it is bound to the version before it. */
function patchRepeatable(patch: object): ApiRequest["repeatable"] {
  const metadata = "metadata" in patch ? patch.metadata : undefined;
  const bound = typeof metadata === "object" && metadata !== null && "resourceVersion" in metadata;
  return bound ? "once" : "idempotent";
}

function describe({ type, namespace, name }: ObjectRef): string {
  return namespace === undefined ? `${type.resource} ${name}` : `${type.resource} ${namespace}/${name}`;
}

function scope(namespace: string | undefined): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

function isKubeObject(value: unknown): value is KubeObject {
  return (
    typeof value === "object" &&
    value !== null &&
    "metadata" in value &&
    typeof value.metadata === "object" &&
    value.metadata !== null
  );
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
