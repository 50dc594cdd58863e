import mergePatch from "json-merge-patch";
import { failed, ok, type Result } from "../../lib/base/result.ts";
import type { Answer, CallOptions, KubeClient, KubeObject, ObjectRef, ResourceType } from "../../lib/kube/client.ts";
import type { KubeError, KubeErrorKind } from "../../lib/kube/errors.ts";

/** One request that the cluster was sent. */
export interface MemoryRequest {
  /** `dryRun`: a patch that is to change nothing. */
  readonly verb: "get" | "list" | "create" | "patch" | "dryRun" | "patchStatus" | "delete";
  readonly resource: string;
  readonly name: string;
  readonly body: unknown;
  /** The credential of the client that sent it. */
  readonly credential: string;
}

type ClusterClient = Pick<
  KubeClient,
  "cluster" | "get" | "list" | "create" | "mergePatch" | "mergePatchStatus" | "delete" | "close"
>;

/** What happens instead of the right answer: an error, or nothing until the caller gives up. */
export type MemoryFault = KubeError | "hang" | undefined;

/** An error of a kind, as lib/kube would make it. */
export function kubeError(kind: KubeErrorKind, more: Record<string, unknown> = {}): KubeError {
  const common = { cluster: "c", operation: "patch", object: "o", retry: "backoff", message: `${kind} of c` };
  return {
    ...common,
    kind,
    status: 500,
    retryAfterMs: 20_000,
    webhook: "w",
    denial: "no",
    phase: "answer",
    ...more,
  } as KubeError;
}

/**
 * The API of a cluster in memory, as far as lib/antrea asks it: resourceVersions that rise with each change, merge
 * patches, conflicts, and answers that can be made to fail. Held to the simulated API server by a contract test.
 */
export class MemoryCluster {
  readonly requests: MemoryRequest[] = [];
  open = 0;
  fault: (request: MemoryRequest) => MemoryFault = () => undefined;
  readonly #objects = new Map<string, KubeObject>();
  #version = 0;

  client(cluster: string, credential = ""): ClusterClient {
    this.open += 1;
    let closed = false;
    const ask = async (
      request: Omit<MemoryRequest, "credential">,
      { signal }: CallOptions,
      answer: () => Result<KubeObject, KubeError>,
    ): Promise<Result<Answer<KubeObject>, KubeError>> => {
      if (closed) throw new Error("a closed client was used");
      const fault = await this.#meet({ ...request, credential }, signal);
      if (fault !== undefined) return failed(fault);
      const result = answer();
      return result.ok ? ok({ object: structuredClone(result.value), clockAheadMs: 0 }) : result;
    };
    const of = (verb: MemoryRequest["verb"], ref: ObjectRef, body?: unknown): Omit<MemoryRequest, "credential"> => ({
      verb,
      resource: ref.type.resource,
      name: ref.name,
      body,
    });
    return {
      cluster,
      get: async (ref, options) => await ask(of("get", ref), options, () => this.#find(keyOf(ref))),
      create: async (type, namespace, object, options) => {
        const ref = { type, namespace: namespace ?? "", name: object.metadata.name ?? "" };
        const exists = () => this.#objects.has(keyOf(ref));
        if (options.dryRun === true) {
          return await ask(of("dryRun", ref, object), options, () =>
            exists() ? failed(kubeError("alreadyExists")) : ok(object),
          );
        }
        return await ask(of("create", ref, object), options, () =>
          exists() ? failed(kubeError("alreadyExists")) : ok(this.put(ref, object)),
        );
      },
      mergePatch: async (ref, patch, options) =>
        options.dryRun === true
          ? await ask(of("dryRun", ref, patch), options, () => this.#find(keyOf(ref)))
          : await ask(of("patch", ref, patch), options, () => this.#patch(ref, patch, false)),
      mergePatchStatus: async (ref, patch, options) =>
        await ask(of("patchStatus", ref, patch), options, () => this.#patch(ref, patch, true)),
      delete: async (ref, { uid }, options) => {
        const deleted = await ask(of("delete", ref), options, () => this.#delete(ref, uid));
        return deleted.ok ? ok(undefined) : deleted;
      },
      list: async (type, namespace, { signal }) => {
        const request = { verb: "list", resource: type.resource, name: "", body: undefined, credential } as const;
        const fault = await this.#meet(request, signal);
        if (fault !== undefined) return failed(fault);
        const prefix = keyOf({ type, namespace: namespace ?? "", name: "" });
        const found = [...this.#objects].filter(([key]) => key.startsWith(prefix)).map(([, object]) => object);
        return ok({ items: structuredClone(found), resourceVersion: String(this.#version) });
      },
      close: async () => {
        if (!closed) this.open -= 1;
        closed = true;
      },
    };
  }

  /** Writes an object as it is; a changed spec raises its generation, as the API server does. */
  put(ref: ObjectRef, object: object): KubeObject {
    const key = keyOf(ref);
    const before = this.#objects.get(key);
    const given = structuredClone(object) as KubeObject;
    this.#version += 1;
    const moved = JSON.stringify(before?.["spec"]) === JSON.stringify(given["spec"]) ? 0 : 1;
    const stored: KubeObject = {
      ...given,
      metadata: {
        ...given.metadata,
        name: ref.name,
        ...(ref.namespace === undefined ? {} : { namespace: ref.namespace }),
        uid: before?.metadata.uid ?? `uid-${this.#version}`,
        generation: (before?.metadata.generation ?? 0) + moved,
        resourceVersion: String(this.#version),
      },
    };
    this.#objects.set(key, stored);
    return stored;
  }

  read(ref: ObjectRef): KubeObject | undefined {
    return this.#objects.get(keyOf(ref));
  }

  remove(ref: ObjectRef): void {
    this.#objects.delete(keyOf(ref));
  }

  async #meet(request: MemoryRequest, signal: AbortSignal | undefined): Promise<KubeError | undefined> {
    this.requests.push(request);
    if (signal?.aborted === true) return kubeError("timeout");
    const fault = this.fault(request);
    if (fault !== "hang") return fault;
    await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
    return kubeError("timeout");
  }

  #delete(ref: ObjectRef, uid: string | undefined): Result<KubeObject, KubeError> {
    const found = this.#find(keyOf(ref));
    if (found.ok && uid !== undefined && found.value.metadata.uid !== uid) return failed(kubeError("conflict"));
    if (found.ok) this.remove(ref);
    return found;
  }

  #find(key: string): Result<KubeObject, KubeError> {
    const found = this.#objects.get(key);
    return found === undefined ? failed(kubeError("notFound", { status: 404 })) : ok(found);
  }

  #patch(ref: ObjectRef, patch: object, status: boolean): Result<KubeObject, KubeError> {
    const found = this.#find(keyOf(ref));
    if (!found.ok) return found;
    const wanted = (patch as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion;
    if (wanted !== undefined && wanted !== found.value.metadata.resourceVersion) return failed(kubeError("conflict"));
    const patched = mergePatch.apply(structuredClone(found.value), structuredClone(patch)) as KubeObject;
    const next = status ? { ...found.value, status: patched["status"] } : { ...patched, status: found.value["status"] };
    if (JSON.stringify(withoutVersion(next)) === JSON.stringify(withoutVersion(found.value))) return found;
    return ok(this.put(ref, next));
  }
}

function withoutVersion(object: KubeObject): unknown {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function keyOf({ type, namespace, name }: { type: ResourceType; namespace?: string; name: string }): string {
  return `${type.resource}/${namespace ?? ""}/${name}`;
}
