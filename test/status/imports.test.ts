import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ok } from "../../lib/base/result.ts";
import type { ImportRecord } from "../../lib/state/imports.ts";
import { isCalm, readImports } from "../../lib/status/imports.ts";

const record: ImportRecord = {
  name: "shop-web-service",
  kind: "ServiceImport",
  target: { namespace: "shop", name: "web" },
  objects: [{ apiVersion: "v1", kind: "Service", namespace: "shop", name: "antrea-mc-web", uid: "u" }],
  state: "Failed",
  since: Date.parse("2026-01-01T00:00:00Z"),
  attempts: 3,
  nextAttemptAt: Date.parse("2026-01-01T00:01:00Z"),
  error: "create services: no",
  assignment: 1,
  fence: 1,
};

describe("the imports of a cluster", () => {
  it("are shown with what they are about, what they made, and why they are not applied", async () => {
    const reader = { listImports: () => Promise.resolve(ok({ imports: [record] })) };

    const read = await readImports(reader, "east", new AbortController().signal);

    assert.deepEqual(read, {
      ok: true,
      value: [
        {
          name: "shop-web-service",
          kind: "ServiceImport",
          target: "shop/web",
          state: "Failed",
          since: "2026-01-01T00:00:00.000Z",
          attempts: 3,
          nextAttemptAt: "2026-01-01T00:01:00.000Z",
          error: "create services: no",
          objects: ["Service shop/antrea-mc-web"],
        },
      ],
    });
  });

  it("are all read, over as many pages as it takes", async () => {
    const pages = [0, 1, 2];
    const reader = {
      listImports: (_cluster: string, { startFrom = "0" }: { readonly startFrom?: string | undefined }) => {
        const page = Number(startFrom);
        const imports = [{ ...record, name: `import-${page}` }];
        return Promise.resolve(ok(page < pages.length - 1 ? { imports, next: String(page + 1) } : { imports }));
      },
    };

    const read = await readImports(reader, "east", new AbortController().signal);

    assert.deepEqual(read.ok && read.value.map(({ name }) => name), ["import-0", "import-1", "import-2"]);
  });

  it("want attention unless they are applied, or not for this cluster", () => {
    const states = [
      "Applied",
      "Excluded",
      "Unsupported",
      "Pending",
      "Conflicted",
      "Invalid",
      "Failed",
      "Removing",
    ] as const;

    assert.deepEqual(
      states.filter((state) => isCalm({ state })),
      ["Applied", "Excluded", "Unsupported"],
    );
  });
});
