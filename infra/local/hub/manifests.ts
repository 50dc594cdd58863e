import { readFileSync } from "node:fs";

/**
 * What an API server holds before it can be a hub, as YAML texts in the order in which they are applied: the
 * CustomResourceDefinition, the identity of clusters that register, and the hub's own identity.
 */
export function hubManifests(): readonly string[] {
  return ["../../kubernetes/crds/managedclusters.yaml", "../../kubernetes/hub/bootstrap.yaml", "./rbac.yaml"].map(
    (file) => readFileSync(new URL(file, import.meta.url), "utf8"),
  );
}
