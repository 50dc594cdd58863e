import { type FieldError, invalid } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { objectIn } from "../json.ts";
import { define } from "./define.ts";
import { int32, microTime, struct, textPointer } from "./description.ts";

/** coordination.k8s.io/v1 Lease. */
export const leases = define({
  group: "coordination.k8s.io",
  kind: "Lease",
  resource: "leases",
  namespaced: true,
  schema: struct({
    spec: struct({
      holderIdentity: textPointer,
      leaseDurationSeconds: int32,
      acquireTime: microTime,
      renewTime: microTime,
      leaseTransitions: int32,
      strategy: textPointer,
      preferredHolder: textPointer,
    }),
  }),
  strategy: {
    unconditionalUpdate: false,
    createOnUpdate: true,
    applyDefaults: (object) => {
      object["spec"] ??= {};
    },
    validate,
  },
});

function validate(object: ApiObject): readonly FieldError[] {
  const { leaseDurationSeconds, leaseTransitions } = objectIn(object, "spec");
  const errors: FieldError[] = [];
  if (typeof leaseDurationSeconds === "number" && leaseDurationSeconds <= 0) {
    errors.push(invalid("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0"));
  }
  if (typeof leaseTransitions === "number" && leaseTransitions < 0) {
    errors.push(invalid("spec.leaseTransitions", leaseTransitions, "must be greater than or equal to 0"));
  }
  return errors;
}
