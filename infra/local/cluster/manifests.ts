import { parseAllDocuments } from "yaml";
import { isJsonObject, type JsonObject, objectsIn } from "./engine/json.ts";

const FIRST: readonly unknown[] = ["Namespace", "CustomResourceDefinition"];

/**
 * The objects of a YAML text of several documents, `List`s taken apart, in their order but Namespaces and
 * CustomResourceDefinitions first.
 * @throws when the text is no YAML
 */
export function readManifests(text: string): readonly JsonObject[] {
  const objects: JsonObject[] = [];
  for (const document of parseAllDocuments(text)) {
    const [error] = document.errors;
    if (error !== undefined) throw new Error(`the manifest is no YAML: ${error.message}`);
    const value: unknown = document.toJS();
    if (!isJsonObject(value)) continue;
    if (value["kind"] === "List") objects.push(...objectsIn(value, "items"));
    else objects.push(value);
  }
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

function rank(object: JsonObject): number {
  const index = FIRST.indexOf(object["kind"]);
  return index === -1 ? FIRST.length : index;
}
