import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseAllDocuments } from "yaml";

const OURS = new URL("../../../infra/kubernetes/crds/", import.meta.url).pathname;
const UPSTREAM = process.env["UPSTREAM_CRDS"];

interface Schema {
  readonly type?: string;
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly [keyword: string]: unknown;
}

interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly storage: boolean;
      readonly subresources?: { readonly status?: object };
      readonly schema: { readonly openAPIV3Schema: Schema };
    }[];
  };
}

function definitions(folder: string): Definition[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".yaml"))
    .flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), "utf8")))
    .map((document) => document.toJS() as Definition)
    .filter((definition) => definition?.spec?.names !== undefined);
}

/** Every field of ours must be upstream's, with the same type, format and bounds. */
function differences(ours: Schema, theirs: Schema | undefined, path: string): string[] {
  if (theirs === undefined) return [`${path}: is not upstream's`];
  const found = ["type", "format", "minItems", "maxItems", "enum", "pattern"]
    .filter((keyword) => JSON.stringify(ours[keyword]) !== JSON.stringify(theirs[keyword]))
    .map((keyword) => `${path}: ${keyword} is ${String(ours[keyword])}, upstream's ${String(theirs[keyword])}`);
  if (JSON.stringify([...(ours.required ?? [])].sort()) !== JSON.stringify([...(theirs.required ?? [])].sort())) {
    found.push(`${path}: required differs`);
  }
  for (const [name, schema] of Object.entries(ours.properties ?? {})) {
    found.push(...differences(schema, theirs.properties?.[name], `${path}.${name}`));
  }
  return ours.items === undefined ? found : [...found, ...differences(ours.items, theirs.items, `${path}[]`)];
}

describe("our CustomResourceDefinitions", () => {
  it("are named after their resource and group", () => {
    const ours = definitions(OURS);

    assert.ok(ours.length >= 2);
    for (const { metadata, spec } of ours) assert.equal(metadata.name, `${spec.names.plural}.${spec.group}`);
  });

  // Without upstream's definitions there is nothing to compare; the continuous build has them.
  if (UPSTREAM !== undefined) {
    for (const ours of definitions(OURS)) {
      it(`agree with upstream's on ${ours.metadata.name}`, () => {
        const theirs = definitions(UPSTREAM).find((d) => d.metadata.name === ours.metadata.name);

        assert.ok(theirs, "upstream has no such resource");
        assert.equal(ours.spec.scope, theirs.spec.scope);
        assert.equal(ours.spec.names.kind, theirs.spec.names.kind);
        for (const version of ours.spec.versions) {
          const other: Definition["spec"]["versions"][number] | undefined = theirs.spec.versions.find(
            (v) => v.name === version.name,
          );
          assert.ok(other, `upstream does not serve ${version.name}`);
          assert.equal(version.storage, other.storage);
          assert.equal(version.subresources?.status === undefined, other.subresources?.status === undefined);
          assert.deepEqual(differences(version.schema.openAPIV3Schema, other.schema.openAPIV3Schema, version.name), []);
        }
      });
    }
  }
});
