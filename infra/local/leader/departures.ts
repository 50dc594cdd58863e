import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { announceFinalizer, clusterIdOf, paths } from "./resources.ts";

/** How long after a failed attempt the next one is made, in milliseconds. */
const RETRY_MS = 1_000;

/** Sees departing members off: deletes their exports, then lets their announces go. What fails is tried again. */
export class Departures {
  readonly #client: ApiClient;
  readonly #namespace: string;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #underWay = new Map<string, Promise<void>>();

  constructor(client: ApiClient, namespace: string, clock: Clock, signal: AbortSignal) {
    this.#client = client;
    this.#namespace = namespace;
    this.#clock = clock;
    this.#signal = signal;
  }

  /** An announce is being deleted. Does not wait; events of a departure that is under way start no second one. */
  begin(announce: ApiRecord): void {
    const { uid = "" } = announce.metadata;
    if (this.#underWay.has(uid)) return;
    const work = this.#seeOff(announce).finally(() => this.#underWay.delete(uid));
    this.#underWay.set(uid, work);
  }

  /** Settles when nothing is under way any more, soon after the signal. */
  async ended(): Promise<void> {
    await Promise.all(this.#underWay.values());
  }

  async #seeOff(announce: ApiRecord): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        if (await this.#attempt(announce)) return;
      } catch (error) {
        if (this.#signal.aborted) return;
        const { name } = announce.metadata;
        console.error(
          JSON.stringify({
            level: "warn",
            message: "the leader could not let an announce go",
            name,
            error: String(error),
          }),
        );
      }
      await this.#clock.sleep(RETRY_MS, this.#signal);
    }
  }

  /** True when there is nothing left to do for this announce. */
  async #attempt({ metadata: { name, uid } }: ApiRecord): Promise<boolean> {
    const path = `${paths.announces(this.#namespace)}/${name}`;
    const { code, body: announce } = await this.#client.request("GET", path);
    if (code === 404) return true;
    if (code !== 200) return false;
    const clusterId = clusterIdOf(announce);
    const { finalizers = [] } = announce.metadata;
    const finalizer = announceFinalizer(clusterId);
    if (announce.metadata.uid !== uid || !finalizers.includes(finalizer)) return true;
    if (!(await this.#deleteExports(clusterId))) return false;
    const metadata = { ...announce.metadata, finalizers: finalizers.filter((f) => f !== finalizer) };
    const written = await this.#client.request("PUT", path, { ...announce, metadata });
    return written.code < 300 || written.code === 404;
  }

  /** True when no export of the cluster is left to delete. */
  async #deleteExports(clusterId: string): Promise<boolean> {
    const exports = paths.exports(this.#namespace);
    const list = await this.#client.request("GET", exports);
    // A leader without that resource has no exports.
    if (list.code === 404) return true;
    const own = (list.body.items ?? []).filter(
      (e) => (e["spec"] as { clusterID?: string } | undefined)?.clusterID === clusterId,
    );
    const answers = await Promise.all(own.map((e) => this.#client.request("DELETE", `${exports}/${e.metadata.name}`)));
    return list.code === 200 && answers.every((a) => a.code < 300 || a.code === 404);
  }
}
