import type { Clock } from "../../../../lib/base/clock.ts";
import { type Ids, systemIds } from "../../../../lib/base/ids.ts";
import type { Random } from "../../../../lib/base/random.ts";
import { pathNotFound, reply } from "../status.ts";
import type { Admission, Engine, VirtualResource } from "../types.ts";
import { builtinTypes } from "./builtin/types.ts";
import type { Core } from "./core.ts";
import { serveDefinitions, serveStoredDefinitions } from "./crd/serve-definitions.ts";
import { discoveryDocument } from "./discovery.ts";
import { execute } from "./execute.ts";
import { startLifecycle } from "./lifecycle.ts";
import { Registry } from "./registry.ts";
import { seedCluster, serverApply } from "./server-apply.ts";
import { type HistoryLimits, keyOf, Store } from "./storage/store.ts";
import { type WatchBehaviour, watch } from "./watch.ts";

/** What an engine is made of. */
export interface EngineOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly admission: Admission;
  readonly ids?: Ids;
  /** Range of the ClusterIPs of Services, IPv4; `10.96.0.0/12` unless given. */
  readonly serviceCIDR?: string;
  /** Repack the subsets of Endpoints when they are stored, as servers of older versions do; false unless given. */
  readonly repackEndpoints?: boolean;
  readonly history?: Partial<HistoryLimits>;
  readonly watch?: Partial<WatchBehaviour>;
  /** How long the controllers of Namespaces and definitions take for a round, in milliseconds. */
  readonly lifecycleMs?: number;
  /** Resources that the front answers itself; shown in discovery. */
  readonly virtual?: readonly VirtualResource[];
}

const HISTORY: HistoryLimits = { events: 10_000, ms: 5 * 60_000 };
const WATCH: WatchBehaviour = { tooOld: "event", tooNew: "wait", bookmarkMs: 60_000 };

/** Makes an API server's machinery with the four Namespaces that every cluster has. */
export function createEngine(options: EngineOptions): Engine {
  const { clock, random, serviceCIDR = "10.96.0.0/12", repackEndpoints = false } = options;
  const store = new Store(clock, { ...HISTORY, ...options.history });
  const registry = new Registry();
  const ids = options.ids ?? systemIds(clock, random);
  const core: Core = { clock, random, ids, store, registry, admission: options.admission };
  for (const type of builtinTypes({ serviceCIDR, repackEndpoints })) registry.add(type);
  serveDefinitions(core);
  const virtual = options.virtual ?? [];
  const lifecycle = startLifecycle(core, options.lifecycleMs ?? 50);
  seedCluster(core);
  const behaviour = { ...WATCH, ...options.watch };
  return {
    execute: async (request) => await execute(core, request),
    watch: async (request) => {
      const at = registry.locate(request.group, request.version, request.resource);
      if (at === undefined) return { kind: "refused", reply: reply(pathNotFound()) };
      return watch(core, request, at, behaviour);
    },
    discovery: (path) => discoveryDocument(core, virtual, path),
    serves: (group, version, resource, subresource) => {
      if (virtual.some((v) => isNamed(v, group, version, resource) && v.subresource === subresource)) return true;
      const at = registry.locate(group, version, resource);
      return at !== undefined && (subresource === undefined || at.version.subresources.has(subresource));
    },
    isBuiltIn: (group) =>
      group === "" ||
      virtual.some((v) => v.group === group) ||
      registry.all().some((type) => type.group === group && !type.custom),
    readAll: (group, resource, namespace) => store.list(`${group}/${resource}`, namespace),
    readOne: (group, resource, namespace, name) => store.get(`${group}/${resource}`, keyOf(namespace, name)),
    collectionVersion: (group, resource) => store.tableVersion(`${group}/${resource}`),
    apply: async (object) => serverApply(core, object),
    compact: () => store.compact(),
    snapshot: () => store.snapshot(),
    restore: (snapshot) => {
      store.restore(snapshot);
      serveStoredDefinitions(core);
    },
    close: () => {
      lifecycle.close();
      store.endWatches();
    },
  };
}

function isNamed(v: VirtualResource, group: string, version: string, resource: string): boolean {
  return v.group === group && v.version === version && v.resource === resource;
}
