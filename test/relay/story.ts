import { DEFAULT_TIMING } from "../../lib/relay/timing.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { Platform, type PlatformOptions } from "./simulation/platform.ts";
import { settle } from "./simulation/world.ts";

/** A told history: a platform with the real numbers, and time that moves when it is told to. */
export class Story {
  readonly platform: Platform;

  constructor(options: Partial<PlatformOptions> = {}) {
    this.platform = new Platform({
      random: seededRandom(1),
      timing: DEFAULT_TIMING,
      standby: "cold",
      windowMs: 900_000,
      targets: ["east", "north"],
      prepareMs: () => 2_000,
      ...options,
    });
  }

  /** Lets everything happen that happens before the given second. */
  async until(second: number): Promise<void> {
    const { world } = this.platform;
    world.at(second * 1_000, () => {});
    await settle();
    while (world.step(second * 1_000)) {
      await settle();
      this.platform.check();
    }
  }

  /** The longest time without a beat of any one target between two moments, in seconds. */
  longestGap(fromSecond: number, toSecond: number): number {
    const gaps = ["east", "north"].map((target) => {
      const at = this.platform.beats.filter((beat) => beat.target === target).map((beat) => beat.atMs / 1_000);
      const within = [fromSecond, ...at.filter((s) => s >= fromSecond && s <= toSecond), toSecond];
      return Math.max(...within.map((s, i) => s - (within[i - 1] ?? s)));
    });
    return Math.max(...gaps);
  }
}
