import { isDeepStrictEqual } from "node:util";
import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { reflect } from "../api-client/reflector.ts";
import { type ImportToBe, mergeExports } from "./import-rules.ts";
import { EXPORT_FINALIZERS, paths } from "./resources.ts";

/** How long after a failed round the next one is made, in milliseconds. */
const RETRY_MS = 1_000;

/** What an exchange works with. */
export interface ExchangeOptions {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * The leader's part between members: keeps the ResourceImports what the ResourceExports make of them, says in each export
 * what became of it, and lets deleted exports go when nothing of them is left. Whatever changes, everything is merged anew;
 * what fails is tried again.
 */
export class Exchange {
  readonly #options: ExchangeOptions;
  #dirty = Promise.withResolvers<void>();

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  /** Works until the signal fires. */
  async run(): Promise<void> {
    const { client, namespace, clock, signal } = this.#options;
    const changed = (): Promise<void> => {
      this.#dirty.resolve();
      return Promise.resolve();
    };
    signal.addEventListener("abort", () => this.#dirty.resolve(), { once: true });
    await Promise.all([
      reflect(client, paths.exports(namespace), { changed, deleted: changed }, clock, signal),
      this.#mergeWhenChanged(),
    ]);
  }

  async #mergeWhenChanged(): Promise<void> {
    const { clock, signal } = this.#options;
    while (!signal.aborted) {
      await this.#dirty.promise;
      if (signal.aborted) return;
      this.#dirty = Promise.withResolvers<void>();
      try {
        await this.#merge();
      } catch (error) {
        if (signal.aborted) return;
        const message = "the leader could not merge its exports";
        console.error(JSON.stringify({ level: "warn", message, error: String(error) }));
        await clock.sleep(RETRY_MS, signal);
        this.#dirty.resolve();
      }
    }
  }

  async #merge(): Promise<void> {
    const { namespace } = this.#options;
    const exports = await this.#list(paths.exports(namespace));
    const present = await this.#list(paths.imports(namespace));
    const staying = exports.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const { imports, converged } = mergeExports(staying, present);
    for (const one of present) if (!imports.has(one.metadata.name)) await this.#delete(one);
    for (const [name, wanted] of imports) {
      const before = present.find(({ metadata }) => metadata.name === name);
      await (before === undefined ? this.#create(name, wanted) : this.#update(before, wanted));
    }
    for (const one of staying) await this.#tell(one, converged.get(one.metadata.name));
    for (const one of exports) if (!staying.includes(one)) await this.#letGo(one);
  }

  async #create(name: string, { spec }: ImportToBe): Promise<void> {
    const { namespace } = this.#options;
    await this.#send("POST", paths.imports(namespace), {
      apiVersion: "multicluster.crd.antrea.io/v1alpha1",
      kind: "ResourceImport",
      metadata: { name, namespace },
      spec,
    });
  }

  /** Only an update is told in the import's status, and an administrator's list of clusters stays. */
  async #update(before: ApiRecord, { spec, sources }: ImportToBe): Promise<void> {
    const { clusterID, ...rest } = (before["spec"] ?? {}) as Record<string, unknown>;
    if (isDeepStrictEqual(rest, JSON.parse(JSON.stringify(spec)))) return;
    const path = `${paths.imports(this.#options.namespace)}/${before.metadata.name}`;
    const kept = clusterID === undefined ? {} : { clusterID };
    const written = await this.#send("PUT", path, { ...before, spec: { ...spec, ...kept } });
    const condition = {
      type: "Succeeded",
      status: "True",
      message: "update is successful",
      lastTransitionTime: this.#options.clock.now().toISOString(),
    };
    const clusterStatuses = sources.map((id) => ({ clusterID: id, conditions: [condition] }));
    await this.#send("PUT", `${path}/status`, { ...written, status: { clusterStatuses } });
  }

  async #delete({ metadata }: ApiRecord): Promise<void> {
    const { client, namespace } = this.#options;
    const answer = await client.request("DELETE", `${paths.imports(namespace)}/${metadata.name}`);
    if (answer.code >= 300 && answer.code !== 404) throw new Error(`delete import ${metadata.name}: ${answer.code}`);
  }

  /** @param converged undefined: nothing is made of it */
  async #tell(one: ApiRecord, converged: boolean | undefined): Promise<void> {
    if (converged === undefined) return;
    const said = converged
      ? { type: "Succeeded", status: "True" }
      : {
          type: "Failure",
          status: "False",
          reason: "ConvergeFailure",
          message: "ResourceExport can't be converged to ResourceImport",
        };
    const status = one["status"] as { conditions?: Record<string, unknown>[] } | undefined;
    const [{ lastTransitionTime: _, ...shown } = { type: "" }] = status?.conditions ?? [];
    if (isDeepStrictEqual(shown, said)) return;
    const conditions = [{ ...said, lastTransitionTime: this.#options.clock.now().toISOString() }];
    const path = `${paths.exports(this.#options.namespace)}/${one.metadata.name}/status`;
    await this.#send("PUT", path, { ...one, status: { conditions } });
  }

  async #letGo(one: ApiRecord): Promise<void> {
    const { finalizers = [], ...metadata } = one.metadata;
    const kept = finalizers.filter((finalizer) => !EXPORT_FINALIZERS.includes(finalizer));
    if (kept.length === finalizers.length) return;
    const path = `${paths.exports(this.#options.namespace)}/${metadata.name}`;
    await this.#send("PUT", path, { ...one, metadata: { ...metadata, finalizers: kept } });
  }

  async #list(path: string): Promise<readonly ApiRecord[]> {
    return (await this.#send("GET", path)).items ?? [];
  }

  async #send(method: string, path: string, body?: unknown): Promise<ApiRecord & { items?: ApiRecord[] }> {
    const answer = await this.#options.client.request(method, path, body);
    if (answer.code < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.code} ${answer.body.message ?? ""}`);
  }
}
