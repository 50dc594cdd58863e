import { forbidden } from "../../status.ts";
import type { ApiObject } from "../../types.ts";
import { textIn } from "../json.ts";
import { labelProblems } from "../names.ts";
import { define } from "./define.ts";
import { conditions, struct, text, texts } from "./description.ts";

const KEPT = ["default", "kube-system", "kube-public"];
const NAME_LABEL = "kubernetes.io/metadata.name";

/** v1 Namespace. Deleting one marks it; the namespace controller empties and removes it. */
export const namespaces = define({
  kind: "Namespace",
  resource: "namespaces",
  shortNames: ["ns"],
  namespaced: false,
  subresources: ["status", "finalize"],
  schema: struct({ spec: struct({ finalizers: texts }), status: struct({ phase: text, conditions }) }),
  strategy: {
    returnsDeleted: true,
    nameProblems: labelProblems,
    applyDefaults: (object) => {
      object["spec"] ??= {};
      object["status"] ??= {};
    },
    prepareCreate: (object) => {
      object["spec"] = { finalizers: ["kubernetes"] };
      object["status"] = { phase: "Active" };
      labelWithName(object);
      return undefined;
    },
    prepareUpdate: (object, old) => {
      object["spec"] = old["spec"];
      labelWithName(object);
      return undefined;
    },
    prepareSubresource: (subresource, object, old) => {
      if (subresource === "finalize") object["status"] = old["status"];
      return undefined;
    },
    beginDelete: (object) => ({ ...object, status: { phase: "Terminating" } }),
    outlivesFinalizers: () => true,
    refuseDelete: (object) =>
      KEPT.includes(object.metadata.name ?? "")
        ? forbidden(
            { group: "", resource: "namespaces" },
            object.metadata.name ?? "",
            "this namespace may not be deleted",
          )
        : undefined,
    selectable: (object) => ({
      name: object.metadata.name ?? "",
      "status.phase": textIn({ ...Object(object["status"]) }, "phase"),
    }),
  },
});

function labelWithName(object: ApiObject): void {
  object.metadata.labels = { ...object.metadata.labels, [NAME_LABEL]: object.metadata.name ?? "" };
}
