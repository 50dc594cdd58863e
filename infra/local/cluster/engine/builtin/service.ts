import { objectIn, textIn } from "../json.ts";
import { labelProblems } from "../names.ts";
import type { ResourceType } from "../resource-type.ts";
import { parseRange } from "./cluster-ip.ts";
import { define } from "./define.ts";
import {
  anything,
  conditions,
  flag,
  int32,
  intOrString,
  listOf,
  struct,
  text,
  textMap,
  textPointer,
  texts,
} from "./description.ts";
import { allocate, allocateNodePorts } from "./service-allocation.ts";
import { applyServiceDefaults, dropUnused, keepAllocated } from "./service-defaults.ts";
import { validateService, validateServiceUpdate } from "./service-validation.ts";

const schema = struct({
  spec: struct({
    ports: listOf(
      struct({
        name: text,
        protocol: text,
        appProtocol: textPointer,
        port: int32,
        targetPort: intOrString,
        nodePort: int32,
      }),
    ),
    selector: textMap,
    clusterIP: text,
    clusterIPs: texts,
    type: text,
    externalIPs: texts,
    sessionAffinity: text,
    loadBalancerIP: text,
    loadBalancerSourceRanges: texts,
    externalName: text,
    externalTrafficPolicy: text,
    healthCheckNodePort: int32,
    publishNotReadyAddresses: flag,
    sessionAffinityConfig: struct({ clientIP: struct({ timeoutSeconds: int32 }) }),
    ipFamilies: texts,
    ipFamilyPolicy: textPointer,
    allocateLoadBalancerNodePorts: flag,
    loadBalancerClass: textPointer,
    internalTrafficPolicy: textPointer,
    trafficDistribution: textPointer,
  }),
  status: struct({ loadBalancer: struct({ ingress: listOf(anything) }), conditions }),
});

/** v1 Service; ClusterIPs come from the range. */
export function services(serviceCIDR: string): ResourceType {
  const range = parseRange(serviceCIDR);
  const allocator = { range, last: range.first };
  return define({
    kind: "Service",
    resource: "services",
    shortNames: ["svc"],
    categories: ["all"],
    namespaced: true,
    subresources: ["status"],
    schema,
    strategy: {
      createOnUpdate: true,
      returnsDeleted: true,
      // Older servers want a letter in front.
      nameProblems: labelProblems,
      applyDefaults: applyServiceDefaults,
      prepareCreate: (object, context) => {
        object["status"] = { loadBalancer: {} };
        return allocate(object, context, allocator);
      },
      prepareUpdate: (object, old, context) => {
        dropUnused(object, old);
        const had = keepAllocated(object, old);
        // A changed address is for validation to refuse.
        return had ? allocateNodePorts(object, context) : allocate(object, context, allocator);
      },
      validate: validateService,
      validateUpdate: validateServiceUpdate,
      selectable: (object) => ({
        "spec.clusterIP": textIn(objectIn(object, "spec"), "clusterIP"),
        "spec.type": textIn(objectIn(object, "spec"), "type"),
      }),
    },
  });
}
