import type { ApiObject } from "../../types.ts";
import { arrayIn, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { subdomainProblems } from "../names.ts";
import type { ResourceType, ResourceVersion, Strategy } from "../resource-type.ts";
import type { Schema } from "../schema/schema.ts";
import { storageVersion } from "./definition.ts";

/** The resource that a CustomResourceDefinition defines. The definition has been validated. */
export function customResource(definition: ApiObject): ResourceType {
  const spec = objectIn(definition, "spec");
  const names = objectIn(spec, "names");
  const kind = textIn(names, "kind");
  return {
    group: textIn(spec, "group"),
    kind,
    listKind: textIn(names, "listKind"),
    resource: textIn(names, "plural"),
    singular: textIn(names, "singular"),
    shortNames: texts(names, "shortNames"),
    categories: texts(names, "categories"),
    namespaced: textIn(spec, "scope") === "Namespaced",
    versions: objectsIn(spec, "versions").map((v) => servedVersion(v, textIn(spec, "group"), kind)),
    storageVersion: storageVersion(definition),
    custom: true,
    terminating: definition.metadata.deletionTimestamp !== undefined,
    strategy: STRATEGY,
  };
}

/** Custom resources are updated only with a resourceVersion, and count every change but those of metadata. */
const STRATEGY: Strategy = {
  unconditionalUpdate: false,
  returnsDeleted: false,
  generation: "content",
  nameProblems: subdomainProblems,
};

function servedVersion(version: JsonObject, group: string, kind: string): ResourceVersion {
  const name = textIn(version, "name");
  const schema = objectIn(version, "schema")["openAPIV3Schema"];
  const warning = textIn(version, "deprecationWarning");
  const deprecation = warning === "" ? `${group}/${name} ${kind} is deprecated` : warning;
  return {
    name,
    served: version["served"] === true,
    schema: isSchema(schema) ? schema : undefined,
    subresources: new Set(Object.keys(objectIn(version, "subresources")).filter((s) => s === "status")),
    selectableFields: objectsIn(version, "selectableFields").map((f) => textIn(f, "jsonPath")),
    ...(version["deprecated"] === true ? { deprecation } : {}),
  };
}

/** Schemas are read as they stand: validation of the definition has looked at their structure. */
function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null;
}

function texts(parent: JsonObject, field: string): readonly string[] {
  return arrayIn(parent, field).filter((v) => typeof v === "string");
}
