import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { reflect } from "../api-client/reflector.ts";

const RETRY_MS = 1_000;

/** What is done for each object of a collection. */
export interface Following {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** The collection, of cluster-scoped objects. */
  readonly path: string;
  readonly work: (object: ApiRecord) => Promise<void>;
}

/** Does `work` for each object that appears or changes. One that fails is tried again each second, and holds up no other. */
export async function followEach({ client, clock, path, work }: Following, signal: AbortSignal): Promise<void> {
  const failed = new Set<string>();
  const changed = async (object: ApiRecord): Promise<void> => {
    const { name } = object.metadata;
    failed.delete(name);
    try {
      await work(object);
    } catch (error) {
      if (signal.aborted) return;
      failed.add(name);
      const message = "the hub could not finish its work for an object";
      console.error(JSON.stringify({ level: "warn", message, path, name, error: String(error) }));
    }
  };
  const retry = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(RETRY_MS, signal);
      if (signal.aborted) return;
      // What fails again joins the set anew: only those of now.
      const due = [...failed];
      for (const name of due) await again(name);
    }
  };
  const again = async (name: string): Promise<void> => {
    const answer = await client.request("GET", `${path}/${name}`).catch(() => undefined);
    if (answer?.code === 200) await changed(answer.body);
    else if (answer?.code === 404) failed.delete(name);
  };
  const deleted = ({ metadata }: ApiRecord): Promise<void> => Promise.resolve(void failed.delete(metadata.name));
  await Promise.all([reflect(client, path, { changed, deleted }, clock, signal), retry()]);
}
