import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ok } from "../../lib/base/result.ts";
import type { HistoryEvent } from "../../lib/state/history.ts";
import { readEvents } from "../../lib/status/events.ts";
import type { EventReader } from "../../lib/status/ports.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const signal = new AbortController().signal;

/** One event each minute, the newest now. */
const HISTORY: readonly HistoryEvent[] = Array.from({ length: 500 }, (_, minutes) => ({
  id: String(999 - minutes),
  at: NOW - minutes * 60_000,
  protocol: "antrea",
  kind: minutes % 2 === 0 ? "Connected" : "Disconnected",
  message: `${minutes} minutes ago`,
}));

const reader: EventReader = {
  readEvents: (_cluster, { limit, before }) => {
    const from = before === undefined ? 0 : HISTORY.findIndex(({ id }) => id === before) + 1;
    const events = HISTORY.slice(from, from + limit);
    const next = from + limit < HISTORY.length ? { next: events.at(-1)?.id ?? "" } : {};
    return Promise.resolve(ok({ events, ...next }));
  },
};

describe("the events of a cluster", () => {
  it("are the last fifty, the latest last, where no time is given", async () => {
    const read = await readEvents(reader, "east", {}, signal);

    assert.ok(read.ok);
    assert.equal(read.value.length, 50);
    assert.deepEqual(read.value.at(-1), {
      id: "999",
      at: "2026-01-01T00:00:00.000Z",
      cluster: "east",
      protocol: "antrea",
      kind: "Connected",
      message: "0 minutes ago",
    });
  });

  it("are all since a time, over as many pages as it takes", async () => {
    const read = await readEvents(reader, "east", { since: NOW - 300 * 60_000 }, signal);

    assert.ok(read.ok);
    assert.equal(read.value.length, 301);
    assert.equal(read.value[0]?.message, "300 minutes ago");
  });
});
