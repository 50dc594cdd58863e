import assert from "node:assert/strict";
import { it } from "node:test";
import { Display } from "../../../infra/cli/up-display.ts";

it("tells the summary last, though beats go on until the world has ended", (t) => {
  const written: string[] = [];
  t.mock.method(process.stdout, "write", (text: string) => written.push(text) > 0);
  const display = new Display("json");
  const beat = { event: "beat", at: "2026-01-01T00:00:00Z", cluster: "east", latenessMs: 5 } as const;

  display.event(beat);
  display.event({ event: "summary", memberships: [] });
  display.event(beat);
  t.mock.restoreAll();

  const events = written.map((line) => (JSON.parse(line) as { event: string }).event);
  assert.deepEqual(events, ["beat", "summary"]);
});
