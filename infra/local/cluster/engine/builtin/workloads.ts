import { objectIn, textIn } from "../json.ts";
import { define } from "./define.ts";
import { anything, struct } from "./description.ts";

/** v1 Node: stored as given. */
export const nodes = define({
  kind: "Node",
  resource: "nodes",
  shortNames: ["no"],
  namespaced: false,
  subresources: ["status"],
  schema: struct({ spec: anything, status: anything }),
  strategy: {
    applyDefaults: (object) => {
      object["spec"] ??= {};
      object["status"] ??= {};
    },
    selectable: (object) => ({
      "spec.unschedulable": String(objectIn(object, "spec")["unschedulable"] === true),
    }),
  },
});

/** v1 Pod: stored as given; nothing runs. */
export const pods = define({
  kind: "Pod",
  resource: "pods",
  shortNames: ["po"],
  categories: ["all"],
  namespaced: true,
  subresources: ["status"],
  schema: struct({ spec: anything, status: anything }),
  strategy: {
    returnsDeleted: true,
    generation: "spec",
    prepareCreate: (object) => {
      object["status"] = { phase: "Pending" };
      return undefined;
    },
    selectable: (object) => ({
      "spec.nodeName": textIn(objectIn(object, "spec"), "nodeName"),
      "spec.serviceAccountName": textIn(objectIn(object, "spec"), "serviceAccountName"),
      "status.phase": textIn(objectIn(object, "status"), "phase"),
      "status.podIP": textIn(objectIn(object, "status"), "podIP"),
    }),
  },
});
