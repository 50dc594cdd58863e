import type { BatonRecord } from "./ports.ts";
import type { WindowContext } from "./window-context.ts";

/**
 * Whether a holder that took the baton from a living predecessor is the only one at work. The predecessor learns of the
 * take at its next renewal; until it has said that it stopped, or its validity is over, it may still write.
 */
export class Exclusivity {
  readonly #window: WindowContext;
  readonly #fence: number;
  readonly #from: number | undefined;
  #reached: boolean;
  #stopped: boolean;

  /** @param from when the predecessor's validity is over (wall clock, margin included); undefined: nobody can be at work */
  constructor(window: WindowContext, fence: number, from: number | undefined) {
    this.#window = window;
    this.#fence = fence;
    this.#from = from;
    this.#reached = from === undefined;
    this.#stopped = from === undefined;
  }

  /** Once true, true for the whole hold. */
  reached(): boolean {
    if (!this.#reached && this.#from !== undefined && this.#wallMs() >= this.#from) this.#reached = true;
    return this.#reached;
  }

  /** The predecessor has said that it stopped, or there was none; if not, only its time is over. */
  predecessorStopped(): boolean {
    return this.#stopped;
  }

  /** Takes note of what the baton says. */
  saw(record: BatonRecord | undefined): void {
    if (record?.fence !== this.#fence || (record.stoppedFence ?? 0) < this.#fence - 1) return;
    this.#stopped = true;
    this.#reached = true;
  }

  /** Looks at the baton until exclusivity is reached or `stopped` fires. */
  async watch(stopped: AbortSignal): Promise<void> {
    const { options, timing, calls, id } = this.#window;
    const { clock } = options;
    while (!this.reached() && !stopped.aborted) {
      const leftMs = (this.#from ?? 0) - this.#wallMs();
      await clock.sleep(Math.min(timing.lookEveryMs, leftMs), stopped);
      if (stopped.aborted || this.reached()) break;
      const answer = await calls.readBaton(Number.NEGATIVE_INFINITY, stopped);
      if (answer.ok) this.saw(answer.value);
    }
    if (!stopped.aborted) options.observe?.({ kind: "exclusive", window: id, fence: this.#fence });
  }

  #wallMs(): number {
    return this.#window.options.clock.now().getTime();
  }
}
