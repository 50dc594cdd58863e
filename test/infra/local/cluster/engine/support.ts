import { createEngine, type EngineOptions } from "../../../../../infra/local/cluster/engine/engine.ts";
import type {
  Admission,
  ApiObject,
  ApiReply,
  Engine,
  ResourceRequest,
  UserInfo,
  Verb,
  WatchEvent,
} from "../../../../../infra/local/cluster/types.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";
import { seededRandom } from "../../../../support/seeded-random.ts";

/** Admission that lets everything through unchanged. */
export const admitAll: Admission = async (_phase, { object }) => ({ allowed: true, object, warnings: [] });

export const USER: UserInfo = { username: "alice", uid: "alice-uid", groups: ["system:authenticated"] };

/** What a request says beyond verb and resource. */
export interface Ask {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  readonly query?: Record<string, string>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly user?: UserInfo;
  readonly signal?: AbortSignal;
}

/** A resource in words: `v1/configmaps`, `coordination.k8s.io/v1/leases`. */
export function request(verb: Verb, path: string, ask: Ask = {}): ResourceRequest {
  const parts = path.split("/");
  const [group, version, resource] = parts.length === 2 ? ["", ...parts] : parts;
  const { query, user = USER, signal = new AbortController().signal, ...rest } = ask;
  return {
    verb,
    group: group ?? "",
    version: version ?? "",
    resource: resource ?? "",
    query: new URLSearchParams(query),
    user,
    signal,
    ...rest,
  };
}

/** An engine with a fake clock, and short words for requests to it. */
export class Bench {
  readonly clock = new FakeClock();
  readonly engine: Engine;

  constructor(options: Partial<EngineOptions> = {}) {
    this.engine = createEngine({ clock: this.clock, random: seededRandom(7), admission: admitAll, ...options });
  }

  async ask(verb: Verb, path: string, ask: Ask = {}): Promise<ApiReply> {
    const reply = await this.engine.execute(request(verb, path, ask));
    // Answers share what is stored: frozen, so that the engine fails where it would change it.
    deepFreeze(reply.body);
    return reply;
  }

  /** The object of a request that must succeed. */
  async must(verb: Verb, path: string, ask: Ask = {}): Promise<ApiObject> {
    const reply = await this.ask(verb, path, ask);
    if (reply.code >= 300) throw new Error(`${verb} ${path}: ${JSON.stringify(reply.body)}`);
    return reply.body as ApiObject;
  }

  async patch(path: string, ask: Ask): Promise<ApiReply> {
    return await this.ask("patch", path, { contentType: "application/merge-patch+json", ...ask });
  }

  /** Opens a watch that must be accepted. */
  async watch(path: string, ask: Ask = {}): Promise<Watcher> {
    const stop = new AbortController();
    const reply = await this.engine.watch(request("watch", path, { signal: stop.signal, ...ask }));
    if (reply.kind === "refused") throw new Error(`watch ${path}: ${JSON.stringify(reply.reply.body)}`);
    return new Watcher(reply.events, stop);
  }
}

function deepFreeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const item of Object.values(value)) deepFreeze(item);
}

/** Reads a watch in the background, as a client does. */
export class Watcher {
  readonly events: WatchEvent[] = [];
  ended = false;
  readonly #stop: AbortController;

  constructor(events: AsyncIterable<WatchEvent>, stop: AbortController) {
    this.#stop = stop;
    void this.#read(events);
  }

  /** The events so far, after everything under way has arrived: `ADDED a`. */
  async seen(): Promise<readonly string[]> {
    for (let i = 0; i < 4; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    return this.events.map(({ type, object }) => `${type} ${(object as ApiObject).metadata?.name ?? ""}`.trim());
  }

  stop(): void {
    this.#stop.abort();
  }

  async #read(events: AsyncIterable<WatchEvent>): Promise<void> {
    for await (const event of events) this.events.push(event);
    this.ended = true;
  }
}

/** A ConfigMap named so in `default`. */
export function configMap(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  const { labels, ...fields } = more;
  const metadata = { name, namespace: "default", ...(labels === undefined ? {} : { labels }) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...fields };
}

/** A definition of `Widget` in `example.com`, whose v1 schema has the given properties in spec. */
export function widgetDefinition(
  spec: Record<string, unknown>,
  options: { readonly status?: boolean; readonly scope?: string; readonly specRules?: Record<string, unknown> } = {},
): Record<string, unknown> {
  const schema = {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      spec: { type: "object", properties: spec, ...options.specRules },
      status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      names: { plural: "widgets", kind: "Widget", shortNames: ["wd"] },
      scope: options.scope ?? "Namespaced",
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(options.status === false ? {} : { subresources: { status: {} } }),
        },
      ],
    },
  };
}

export function widget(name: string, spec: unknown, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name, namespace: "default" }, spec, ...more };
}
