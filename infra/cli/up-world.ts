import { fileURLToPath } from "node:url";
import { systemClock } from "../../lib/base/clock.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { AssetsError, findAssets } from "../local/control-plane/assets.ts";
import { ManifestError } from "../local/world/manifests.ts";
import { dataFolder } from "../local/world/state-file.ts";
import { startWorld, type World, WorldError, type WorldOptions } from "../local/world/world.ts";
import { CommandError, EXIT } from "./exit-codes.ts";
import type { UpOptions } from "./up.ts";
import { Display } from "./up-display.ts";
import { observe } from "./up-observe.ts";

const MANIFESTS = fileURLToPath(new URL("../local/manifests", import.meta.url));

/** Runs the local world until its time is up or a signal ends it; answers the exit code. */
export async function up(options: UpOptions): Promise<number> {
  if (options.manifests !== undefined && options.config !== undefined) {
    throw new CommandError("--manifests and --config exclude each other: simulated clusters or real ones", EXIT.usage);
  }
  if (options.real === true && options.config !== undefined) {
    throw new CommandError("--real and --config exclude each other: clusters of our own or yours", EXIT.usage);
  }
  const ended = new AbortController();
  const end = (): void => ended.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  const display = new Display(options.json === true ? "json" : process.stdout.isTTY ? "live" : "lines");
  let world: World | undefined;
  try {
    world = await startWorld({
      dataDir: dataFolder(options.data),
      clusters: clustersOf(options),
      windowMs: options.window,
      standby: options.standby,
      clock: systemClock,
      random: systemRandom,
      onEvent: (event) => display.event(event),
      signal: ended.signal,
    });
    return await observe({ world, display, clock: systemClock, forMs: options.for, signal: ended.signal });
  } catch (error) {
    if (ended.signal.aborted) return EXIT.ok;
    if (error instanceof ManifestError || error instanceof WorldError || error instanceof AssetsError) {
      throw new CommandError(error.message);
    }
    throw error;
  } finally {
    display.close();
    await world?.stop();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, end);
  }
}

function clustersOf({ config, manifests = MANIFESTS, real }: UpOptions): WorldOptions["clusters"] {
  if (config !== undefined) return { config };
  return real === true ? { manifests, assets: findAssets(process.env) } : { manifests };
}
