import { SSMClient } from "@aws-sdk/client-ssm";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Ids, systemIds } from "../base/ids.ts";
import { type Random, systemRandom } from "../base/random.ts";
import { KubeconfigReader } from "../credentials/kubeconfig.ts";
import { ssmCredentials } from "../credentials/ssm.ts";
import type { CredentialStore } from "../credentials/store.ts";
import { Connections } from "../kube/pool.ts";
import { openState, type State } from "../state/state.ts";
import { type Config, readConfig } from "./config.ts";
import { createLog, createLogger } from "./log.ts";
import { VERSION } from "./version.ts";
import { type Clusters, createClusterConnector } from "./wiring-clusters.ts";

/** What every function has, built once for the life of a process. */
export interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly state: State;
  readonly clusters: Clusters;
  /** What Hawser itself keeps, below the parameter prefix. */
  readonly credentials: CredentialStore;
  /** To be called when an invocation begins. */
  readonly awake: () => void;
}

/**
 * The only place, with its `wiring-*` neighbours, where ports and adapters meet.
 * @throws when the environment is not complete: the message names each variable
 */
export function wireParts(): Parts {
  const config = readConfig();
  const clock = systemClock;
  const random = systemRandom;
  const ids = systemIds(clock, random);
  const log = createLog(createLogger());
  const state = openState({
    tableName: config.table,
    clock,
    random,
    ids,
    onUnreadable: ({ kind, message }) => log.warn("item left out of a list", { outcome: kind, why: message }),
  });
  const connections = new Connections({ clock, random, version: VERSION, proxy: config.proxy });
  const credentials = ssmCredentials({ client: new SSMClient({ maxAttempts: 3 }), clock });
  const { fileAccess } = config;
  const kubeconfigs = new KubeconfigReader({ clock, parameters: credentials, fileAccess });
  const clusters = createClusterConnector({ connections, kubeconfigs, fileAccess });
  // A process may have been frozen since it was last used: nothing of that time is trusted.
  const awake = (): void => {
    connections.refresh();
    kubeconfigs.forget();
  };
  return { config, clock, random, ids, state, clusters, credentials, awake };
}
