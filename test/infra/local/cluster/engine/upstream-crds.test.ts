import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { Bench } from "./support.ts";

const folder = process.env["UPSTREAM_CRDS"];
const CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions";

// Without upstream's definitions there is nothing to look at; the continuous build has them.
if (folder !== undefined && folder !== "") test("all definitions of the folder are accepted and served", serveAll);

async function serveAll(): Promise<void> {
  const files = globSync("**/*.yaml", { cwd: folder ?? "" }).toSorted();
  assert.ok(files.length > 0);
  for (const file of files) {
    const bench = new Bench();
    for (const document of parseAllDocuments(readFileSync(join(folder ?? "", file), "utf8"))) {
      const reply = await bench.ask("create", CRDS, { body: document.toJS(), query: { fieldValidation: "Strict" } });
      assert.equal(reply.code, 201, `${file}: ${String(reply.body["message"])}`);
      const spec = (reply.body as Record<string, unknown>)["spec"] as Definition["spec"];
      const storage = spec.versions.find((v) => v.storage);
      assert.ok(bench.engine.serves(spec.group, storage?.name ?? "", spec.names.plural), file);
    }
  }
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly storage: boolean }[];
  };
}
