import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { TestContext } from "node:test";
import { readManifests } from "../../../infra/local/cluster/manifests.ts";
import { eventually } from "../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import type { ContractClient } from "./contract-client.ts";
import type { Area } from "./contract-cluster.ts";

/** A definition (apiextensions.k8s.io/v1), as far as the cases change it. */
export interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly DefinedVersion[];
  };
}

/** A version of a definition. */
export interface DefinedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: object };
  readonly [field: string]: unknown;
}

export const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** A resource that is served by a definition of the cases' own. */
export interface Served {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** Path of its objects in the cases' Namespace, in the first version or the one that is named. */
  readonly path: (version?: string) => string;
  /** An object of it. */
  readonly object: (name: string, content?: object, version?: string) => Record<string, unknown>;
}

/** What a case wants of a definition beside its kind. */
export interface Wanted {
  readonly kind: string;
  /** Schema of the object's fields beside the three that all have. */
  readonly properties?: object;
  readonly required?: readonly string[];
  readonly status?: boolean;
  readonly version?: object;
}

/** A group that is used once: a definition is still on its way out when the next case begins. */
function ownGroup(token: string): string {
  return `${randomBytes(3).toString("hex")}.contract-${token}.hawser.test`;
}

/** A definition with one version, in a group that only this run has. */
export function definitionOf({ token }: Area, wanted: Wanted): Definition {
  const { kind, properties = {}, required, status = false, version = {} } = wanted;
  const group = ownGroup(token);
  const plural = `${kind.toLowerCase()}s`;
  const schema = {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: { type: "object" },
      ...properties,
    },
    ...(required === undefined ? {} : { required }),
  };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { kind, plural },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          ...(status ? { subresources: { status: {} } } : {}),
          ...version,
        },
      ],
    },
  };
}

/** The definitions of a manifest, in a group that only this run has: those of a cluster are not touched. */
export function definitionsOf({ token }: Area, file: string | URL): readonly Definition[] {
  const group = ownGroup(token);
  return readManifests(readFileSync(file, "utf8"))
    .map((object) => JSON.parse(JSON.stringify(object)) as Definition)
    .filter((object) => object.kind === "CustomResourceDefinition")
    .map((definition) => {
      const { metadata, spec } = definition;
      // Groups that end with k8s.io want an approval, which the cases' own does not.
      const { ["api-approved.kubernetes.io"]: _approval, ...annotations } = metadata.annotations ?? {};
      return {
        ...definition,
        metadata: { name: `${spec.names.plural}.${group}`, annotations },
        spec: { ...spec, group },
      };
    });
}

/** Makes the definition, waits until it is served, and deletes it with the test. */
export async function serve(t: TestContext, area: Area, definition: Definition): Promise<Served> {
  const { admin, namespace } = area;
  const { group, names, scope, versions } = definition.spec;
  await admin.must("POST", DEFINITIONS, definition);
  t.after(() => admin.request("DELETE", `${DEFINITIONS}/${definition.metadata.name}`));
  const place = scope === "Namespaced" ? `namespaces/${namespace}/` : "";
  const served = versions.filter((version) => version.served).map(({ name }) => name);
  const path = (version = served[0]): string => `/apis/${group}/${version}/${place}${names.plural}`;
  for (const version of served) await untilServed(admin, path(version));
  return {
    group,
    kind: names.kind,
    plural: names.plural,
    path,
    object: (name, content = {}, version = served[0]) => ({
      apiVersion: `${group}/${version}`,
      kind: names.kind,
      metadata: { name },
      ...content,
    }),
  };
}

/** A definition is established before all of the server knows it. */
async function untilServed(admin: ContractClient, path: string): Promise<void> {
  await eventually(systemClock, `${path} to be served`, async () => {
    const { code } = await admin.request("GET", `${path}?limit=1`);
    return code === 200 ? true : undefined;
  });
}
