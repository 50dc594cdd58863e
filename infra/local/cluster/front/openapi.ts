import { isJsonObject, type JsonObject, objectsIn, textIn } from "../engine/json.ts";

type Discovery = (path: string) => JsonObject | undefined;

const ROOT = "/openapi/v3";
const QUERY_PARAMETERS = ["dryRun", "fieldManager", "fieldValidation", "force", "pretty"];

/**
 * As much of OpenAPI v3 as kubectl asks for before it writes: which group versions there are, and that their objects can
 * be patched with `fieldValidation`, so that the server validates and not the client. It has no schemas.
 */
export function openApiDocument(path: string, discovery: Discovery): JsonObject | undefined {
  if (path === ROOT) {
    const entry = (prefix: string): [string, object] => [prefix, { serverRelativeURL: `${ROOT}/${prefix}` }];
    return { paths: Object.fromEntries(groupVersions(discovery).map(entry)) };
  }
  const prefix = path.startsWith(`${ROOT}/`) ? path.slice(ROOT.length + 1) : "";
  if (!groupVersions(discovery).includes(prefix)) return undefined;
  const list = discovery(`/${prefix}`);
  if (list === undefined) return undefined;
  const resources = objectsIn(list, "resources").filter((r) => !textIn(r, "name").includes("/"));
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "unversioned" },
    paths: Object.fromEntries(resources.map((r) => [objectPath(prefix, r), { patch: patchOf(prefix, r) }])),
    components: { schemas: {} },
  };
}

/** `api/v1`, `apis/apps/v1` and so on. */
function groupVersions(discovery: Discovery): readonly string[] {
  const groups = objectsIn(discovery("/apis") ?? {}, "groups");
  const named = groups.flatMap((group) => objectsIn(group, "versions").map((v) => `apis/${textIn(v, "groupVersion")}`));
  return isJsonObject(discovery("/api/v1")) ? ["api/v1", ...named] : named;
}

function objectPath(prefix: string, resource: JsonObject): string {
  const namespace = resource["namespaced"] === true ? "namespaces/{namespace}/" : "";
  return `/${prefix}/${namespace}${textIn(resource, "name")}/{name}`;
}

function patchOf(prefix: string, resource: JsonObject): JsonObject {
  const [, group = "", version = ""] = prefix === "api/v1" ? ["", "", "v1"] : prefix.split("/");
  return {
    parameters: QUERY_PARAMETERS.map((name) => ({ name, in: "query", schema: { type: "string" } })),
    responses: { 200: { description: "OK" } },
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": { group, version, kind: textIn(resource, "kind") },
  };
}
