import { subdomainProblems } from "../names.ts";
import type { ResourceType, Strategy } from "../resource-type.ts";
import type { Schema } from "../schema/schema.ts";

/** What a built-in type says of itself; the rest follows from the rules of all. */
export interface Definition {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly resource: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  readonly subresources?: readonly string[];
  readonly schema: Schema;
  /** Sent as a `Warning` with each answer. */
  readonly deprecation?: string;
  readonly strategy?: Partial<Strategy>;
}

const COMMON: Strategy = {
  unconditionalUpdate: true,
  returnsDeleted: false,
  generation: "none",
  nameProblems: subdomainProblems,
};

/** Makes a built-in resource of its definition. */
export function define(definition: Definition): ResourceType {
  const version = definition.version ?? "v1";
  return {
    group: definition.group ?? "",
    kind: definition.kind,
    listKind: `${definition.kind}List`,
    resource: definition.resource,
    singular: definition.kind.toLowerCase(),
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
    namespaced: definition.namespaced,
    versions: [
      {
        name: version,
        served: true,
        schema: definition.schema,
        subresources: new Set(definition.subresources ?? []),
        ...(definition.deprecation === undefined ? {} : { deprecation: definition.deprecation }),
      },
    ],
    storageVersion: version,
    custom: false,
    terminating: false,
    strategy: { ...COMMON, ...definition.strategy },
  };
}
