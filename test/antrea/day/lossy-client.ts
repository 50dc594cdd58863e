import type { Random } from "../../../lib/base/random.ts";
import { failed, type Result } from "../../../lib/base/result.ts";
import type { CallOptions, KubeClient } from "../../../lib/kube/client.ts";
import type { KubeError } from "../../../lib/kube/errors.ts";
import { decideRetry, type Repeatable } from "../../../lib/kube/retry-policy.ts";
import type { SimulatedProcess } from "../../relay/simulation/process.ts";
import { kubeError, type MemoryCluster } from "../memory-cluster.ts";

/** The way between a function and a cluster. */
export interface Wire {
  readonly process: SimulatedProcess;
  readonly random: Random;
  /** Share of requests that are lost, on the way there or back, with a reset or in silence. */
  readonly lost: number;
}

type ClusterClient = ReturnType<MemoryCluster["client"]>;
type Answered<T> = Result<T, KubeError>;

const ENDED = failed(kubeError("network", { code: "ABORT_ERR", retry: "now" }));

/** A client that is some milliseconds away, and loses requests; it mends what the client over HTTP mends, by the same rule. */
export function lossyClient(client: ClusterClient, wire: Wire): ClusterClient {
  const send = async <T>(
    repeatable: Repeatable,
    options: CallOptions,
    act: () => Promise<Answered<T>>,
  ): Promise<Answered<T>> => {
    const { process, random } = wire;
    const endMs = process.monotonicMs() + options.timeoutMs;
    for (let tries = 1; ; tries += 1) {
      const answer = await tryOnce(wire, endMs, options.signal, act);
      if (answer.ok) return answer;
      const remainingMs = endMs - process.monotonicMs();
      const wait = decideRetry({ repeatable, error: answer.error, sent: true, tries, remainingMs }, random);
      if (wait === undefined || options.signal?.aborted === true) return answer;
      await process.sleep(wait, options.signal);
    }
  };
  const write = (patch: object): Repeatable => ("metadata" in patch && isBound(patch.metadata) ? "once" : "idempotent");
  return {
    cluster: client.cluster,
    get: (ref, options) => send("read", options, () => client.get(ref, options)),
    list: (type, namespace, options) => send("read", options, () => client.list(type, namespace, options)),
    create: (type, namespace, object, options) =>
      send("once", options, () => client.create(type, namespace, object, options)),
    mergePatch: (ref, patch, options) => send(write(patch), options, () => client.mergePatch(ref, patch, options)),
    mergePatchStatus: (ref, patch, options) =>
      send(write(patch), options, () => client.mergePatchStatus(ref, patch, options)),
    delete: (ref, preconditions, options) =>
      send("idempotent", options, () => client.delete(ref, preconditions, options)),
    close: async () => await client.close(),
  } satisfies Partial<KubeClient>;
}

async function tryOnce<T>(
  { process, random, lost }: Wire,
  endMs: number,
  signal: AbortSignal | undefined,
  act: () => Promise<Answered<T>>,
): Promise<Answered<T>> {
  const isLost = random.next() < lost;
  const arrives = !isLost || random.next() < 0.5;
  const inSilence = random.next() < 0.5;
  const wayMs = (): number => 2 + 40 * random.next();
  await process.sleep(wayMs(), signal);
  if (isOver(signal)) return ENDED;
  const answer = arrives ? await act() : undefined;
  await process.sleep(isLost && inSilence ? endMs - process.monotonicMs() : wayMs(), signal);
  if (isOver(signal)) return ENDED;
  if (!isLost && answer !== undefined) return answer;
  return failed(inSilence ? kubeError("timeout") : kubeError("network", { code: "ECONNRESET", retry: "now" }));
}

function isOver(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

function isBound(metadata: unknown): boolean {
  return typeof metadata === "object" && metadata !== null && "resourceVersion" in metadata;
}
