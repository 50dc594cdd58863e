import { type FieldError, invalid, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { objectIn, textIn } from "../json.ts";
import { qualifiedNameProblems } from "../names.ts";
import { define } from "./define.ts";
import { int32, microTime, objectReference, struct, text, time } from "./description.ts";

/** v1 Event. */
export const events = define({
  kind: "Event",
  resource: "events",
  shortNames: ["ev"],
  namespaced: true,
  schema: struct({
    involvedObject: objectReference,
    reason: text,
    message: text,
    source: struct({ component: text, host: text }),
    firstTimestamp: time,
    lastTimestamp: time,
    count: int32,
    type: text,
    eventTime: microTime,
    series: struct({ count: int32, lastObservedTime: microTime }),
    action: text,
    related: objectReference,
    reportingComponent: text,
    reportingInstance: text,
  }),
  strategy: {
    createOnUpdate: true,
    applyDefaults: (object) => {
      // These have no omitempty: an Event always shows them.
      object["involvedObject"] ??= {};
      object["source"] ??= {};
      object["firstTimestamp"] ??= null;
      object["lastTimestamp"] ??= null;
      object["eventTime"] ??= null;
      object["reportingComponent"] ??= "";
      object["reportingInstance"] ??= "";
    },
    validate,
    selectable: (object) => {
      const involved = objectIn(object, "involvedObject");
      const of = (field: string): [string, string] => [`involvedObject.${field}`, textIn(involved, field)];
      return {
        ...Object.fromEntries(
          ["kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"].map(of),
        ),
        reason: textIn(object, "reason"),
        reportingComponent: textIn(object, "reportingComponent"),
        source: textIn(objectIn(object, "source"), "component"),
        type: textIn(object, "type"),
      };
    },
  },
});

function validate(object: ApiObject): readonly FieldError[] {
  const involved = textIn(objectIn(object, "involvedObject"), "namespace");
  const namespace = object.metadata.namespace ?? "";
  const fits = involved === "" ? namespace === "default" || namespace === "kube-system" : involved === namespace;
  if (!fits) return [invalid("involvedObject.namespace", involved, "does not match event.namespace")];
  // Events of the new kind carry eventTime, and then all that belongs to it.
  if (typeof object["eventTime"] !== "string") return [];
  const component = textIn(object, "reportingComponent");
  return [
    ...(component === "" ? [required("reportingComponent")] : []),
    ...qualifiedNameProblems(component).map((p) => invalid("reportingComponent", component, p)),
    ...["reportingInstance", "action", "reason"].filter((f) => textIn(object, f) === "").map((f) => required(f)),
  ];
}
