import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Cursor, cursorHolds } from "../../lib/state/cursor.ts";
import type { ImportRecord } from "../../lib/state/imports.ts";
import { must, never, startTestServer } from "./test-table.ts";

const server = await startTestServer();
const source = { server: "https://leader:6443", namespace: "antrea-multicluster", clusterID: "uid-1" };
const cursor: Cursor = { ...source, resourceVersion: "4711", listedAt: 5, assignment: 1, fence: 3 };
const record: ImportRecord = {
  name: "shop-web-service",
  kind: "ServiceImport",
  target: { namespace: "shop", name: "web" },
  objects: [{ apiVersion: "v1", kind: "Service", namespace: "shop", name: "antrea-mc-web", uid: "u-1" }],
  appliedHash: "h",
  state: "Applied",
  since: 5,
  attempts: 0,
  assignment: 1,
  fence: 3,
};

test("a cursor is void at another server, Namespace or cluster", () => {
  fc.assert(
    fc.property(fc.constantFrom("server", "namespace", "clusterID"), fc.string(), (field, value) => {
      const other = { ...source, [field]: value };
      assert.equal(cursorHolds(cursor, other), value === source[field]);
    }),
  );
});

test("a cursor is read again at its own server only", async () => {
  const state = (await server.table()).open();
  must(await state.writeCursor("east", "resourceimports", cursor, never));

  const own = must(await state.readCursor("east", "resourceimports", source, never));
  const other = must(await state.readCursor("east", "resourceimports", { ...source, clusterID: "uid-2" }, never));
  await state.deleteCursor("east", "resourceimports", never);
  const deleted = must(await state.readCursor("east", "resourceimports", source, never));

  assert.deepEqual([own, other, deleted], [cursor, undefined, undefined]);
});

test("a holder that was relieved moves no cursor back and touches no import", async () => {
  const state = (await server.table()).open();
  must(await state.writeCursor("east", "resourceimports", cursor, never));
  must(await state.writeImport("east", record, undefined, never));

  const late = { assignment: 1, fence: 2 };
  const outcomes = [
    must(await state.writeCursor("east", "resourceimports", { ...cursor, resourceVersion: "1", ...late }, never)),
    must(await state.writeImport("east", { ...record, state: "Failed", ...late }, undefined, never)),
    must(await state.deleteImport("east", record.name, late, undefined, never)),
  ];

  assert.deepEqual(outcomes, ["outdated", "outdated", "outdated"]);
  assert.deepEqual(must(await state.readImport("east", record.name, never)), record);
  assert.equal(must(await state.readCursor("east", "resourceimports", source, never))?.resourceVersion, "4711");
});

test("a later assignment writes whatever its fence, and a deleted import may be deleted again", async () => {
  const state = (await server.table()).open();
  must(await state.writeImport("east", record, undefined, never));

  const later = { assignment: 2, fence: 1 };
  const written = must(await state.writeImport("east", { ...record, ...later }, undefined, never));
  const deleted = must(await state.deleteImport("east", record.name, later, undefined, never));
  const again = must(await state.deleteImport("east", record.name, later, undefined, never));

  assert.deepEqual([written, deleted, again], ["written", "written", "written"]);
});

test("imports are listed by name over pages", async () => {
  const state = (await server.table()).open();
  const names = Array.from({ length: 7 }, (_, i) => `import-${i}`);
  for (const name of names) must(await state.writeImport("east", { ...record, name }, undefined, never));
  must(await state.writeImport("east-2", record, undefined, never));

  const seen: string[] = [];
  let startFrom: string | undefined;
  do {
    const page = must(await state.listImports("east", { limit: 3, startFrom }, never));
    seen.push(...page.imports.map((i) => i.name));
    startFrom = page.next;
  } while (startFrom !== undefined);

  assert.deepEqual(seen, names);
});

test("an import's error is cut to 4,096 bytes", async () => {
  const state = (await server.table()).open();

  must(await state.writeImport("east", { ...record, error: "x".repeat(50_000) }, undefined, never));

  assert.ok((must(await state.readImport("east", record.name, never))?.error?.length ?? 0) <= 4096);
});
