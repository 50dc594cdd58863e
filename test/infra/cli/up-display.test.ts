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

it("tells of an import in a line, with the reason where it is not applied", (t) => {
  const written: string[] = [];
  t.mock.method(process.stdout, "write", (text: string) => written.push(text) > 0);
  const display = new Display("lines");
  const base = { event: "import", at: "2026-01-01T00:00:00Z", cluster: "east", name: "shop-web-service" } as const;
  const about = { kind: "ServiceImport", target: "shop/web" } as const;

  display.event({ ...base, ...about, state: "Applied" });
  display.event({ ...base, ...about, state: "Conflicted", error: "it is there already" });
  t.mock.restoreAll();

  assert.deepEqual(written, [
    "east: import shop-web-service (ServiceImport shop/web) is Applied\n",
    "east: import shop-web-service (ServiceImport shop/web) is Conflicted: it is there already\n",
  ]);
});
