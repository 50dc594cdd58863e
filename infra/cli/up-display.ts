import { createLogUpdate } from "log-update";
import type { FleetView } from "../../lib/status/fleet.ts";
import type { BeatStatistics } from "../local/world/beat-statistics.ts";
import type { WorldEvent } from "../local/world/events.ts";
import { fleetTable } from "./fleet-table.ts";

/** What the leader's side counted for one membership. */
export interface BeatColumns extends BeatStatistics {
  /** When the last beat succeeded, in milliseconds since the epoch. */
  readonly lastAt: number | undefined;
  readonly lastLatenessMs: number | undefined;
}

/** Shows a running world: as JSON lines, as a table that renews itself, or as lines for a pipe. */
export class Display {
  readonly #mode: "json" | "live" | "lines";
  readonly #update = createLogUpdate(process.stdout, { showCursor: true });
  #shown = "";
  #summarised = false;

  constructor(mode: "json" | "live" | "lines") {
    this.#mode = mode;
  }

  /** Something happened. After the summary nothing is told: scripts read it as the last line, while beats go on until the end. */
  event(event: WorldEvent): void {
    if (this.#summarised) return;
    this.#summarised = event.event === "summary";
    if (this.#mode === "json") {
      process.stdout.write(`${JSON.stringify(event)}\n`);
      return;
    }
    const line = describe(event);
    if (line === undefined) return;
    if (this.#mode === "live") {
      this.#update.clear();
      this.#shown = "";
    }
    process.stdout.write(`${line}\n`);
  }

  /** The fleet as it is now. */
  fleet(fleet: FleetView, beats: ReadonlyMap<string, BeatColumns>, now: number): void {
    if (this.#mode !== "live") return;
    const text = fleetTable(fleet, now, {
      head: ["LAST BEAT", "LATENESS", "BEATS", "MISSED"],
      row: (m) => {
        const b = beats.get(m.cluster);
        if (b?.lastAt === undefined) return ["-", "-", "0", "0"];
        const seconds = Math.max(0, Math.round((now - b.lastAt) / 1_000));
        return [`${seconds} s ago`, `${Math.round(b.lastLatenessMs ?? 0)} ms`, String(b.beats), String(b.missed)];
      },
    });
    const shown = `\n${text}\n\nCtrl-C ends it. "npx hawser status" in another terminal reads the same table.`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#update(shown);
  }

  /** Leaves what was shown last on the screen. */
  close(): void {
    if (this.#mode === "live") this.#update.done();
  }
}

/** An event as a line for people; undefined for what the table shows anyway. */
function describe(event: WorldEvent): string | undefined {
  switch (event.event) {
    case "progress":
      return event.message;
    case "joined":
      return `${event.cluster} has joined`;
    case "notJoined":
      return `${event.cluster} has not joined: ${event.problem}`;
    case "window":
      return `${event.role} of ${event.shard}: window ${event.holder.slice(0, 8)} holds the baton, fence ${event.fence}${event.yielding ? ", yielding" : ""}`;
    case "condition": {
      const message = event.message === "" ? "" : `: ${event.message}`;
      return `${event.cluster}: ${event.type} is ${event.status}${event.reason === "" ? "" : ` (${event.reason})`}${message}`;
    }
    case "import": {
      const why = event.error === undefined ? "" : `: ${event.error}`;
      return `${event.cluster}: import ${event.name} (${event.kind} ${event.target}) is ${event.state}${why}`;
    }
    case "summary":
      return event.memberships
        .map(
          (m) =>
            `${m.cluster}: ${m.connected ? "connected" : "not connected"}, ${m.beats} beats, ${m.missed} missed, ` +
            `lateness at most ${Math.round(m.maxLatenessMs)} ms, longest gap ${(m.maxGapMs / 1_000).toFixed(1)} s`,
        )
        .join("\n");
    case "beat":
      return undefined;
  }
}
