import { isIP } from "node:net";
import { internalError, invalidObject } from "../../status.ts";
import type { ApiObject, ApiStatus } from "../../types.ts";
import { arrayIn, equalJson, isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { labelProblems } from "../names.ts";
import type { ResourceType, StrategyContext } from "../resource-type.ts";
import { isInRange, nextFree, parseRange, toNumber } from "./cluster-ip.ts";
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
import { validateService, validateServiceUpdate } from "./service-validation.ts";

const KIND = { group: "", kind: "Service" };

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
        const had = keepAllocated(object, old);
        // A changed address is for validation to refuse.
        return had ? undefined : allocate(object, context, allocator);
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

function applyServiceDefaults(object: ApiObject): void {
  object["status"] ??= { loadBalancer: {} };
  const spec = object["spec"];
  if (!isJsonObject(spec)) return;
  spec["sessionAffinity"] ??= "None";
  if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"] === "ClientIP")
    spec["sessionAffinityConfig"] ??= { clientIP: { timeoutSeconds: 10_800 } };
  spec["type"] ??= "ClusterIP";
  const outside = spec["type"] === "NodePort" || spec["type"] === "LoadBalancer";
  if (outside) spec["externalTrafficPolicy"] ??= "Cluster";
  if (spec["type"] === "LoadBalancer") spec["allocateLoadBalancerNodePorts"] ??= true;
  if (spec["type"] !== "ExternalName") spec["internalTrafficPolicy"] ??= "Cluster";
  for (const port of objectsIn(spec, "ports")) {
    port["protocol"] ??= "TCP";
    if (port["targetPort"] === undefined || port["targetPort"] === 0 || port["targetPort"] === "") {
      port["targetPort"] = port["port"];
    }
  }
}

/** An update that leaves the address out keeps it. Says whether there was one. */
function keepAllocated(object: ApiObject, old: ApiObject): boolean {
  const spec = object["spec"];
  const before = objectIn(old, "spec");
  const had = textIn(before, "clusterIP") !== "";
  if (!isJsonObject(spec) || spec["type"] === "ExternalName" || !had) return false;
  for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) spec[field] ??= before[field];
  // Who sets clusterIP alone means the first of clusterIPs, too.
  const untouched = equalJson(spec["clusterIPs"], before["clusterIPs"]);
  if (untouched && spec["clusterIP"] !== before["clusterIP"]) spec["clusterIPs"] = [spec["clusterIP"]];
  return true;
}

interface Allocator {
  readonly range: ReturnType<typeof parseRange>;
  last: number;
}

/** Gives an address where the Service needs one, and fills the fields that follow from it. */
function allocate(object: ApiObject, context: StrategyContext, allocator: Allocator): ApiStatus | undefined {
  const spec = object["spec"];
  if (!isJsonObject(spec) || spec["type"] === "ExternalName") return undefined;
  const first = arrayIn(spec, "clusterIPs")[0];
  spec["clusterIP"] ??= first;
  const wanted = textIn(spec, "clusterIP");
  if (wanted !== "None") {
    const problem = takeAddress(object, spec, wanted, { context, allocator });
    if (problem !== undefined) return problem;
  }
  spec["clusterIPs"] ??= [spec["clusterIP"]];
  // Without address and selector a Service may have endpoints of both families.
  const both = wanted === "None" && Object.keys(objectIn(spec, "selector")).length === 0;
  const family = isIP(textIn(spec, "clusterIP")) === 6 ? "IPv6" : "IPv4";
  spec["ipFamilies"] ??= both ? ["IPv4", "IPv6"] : [family];
  spec["ipFamilyPolicy"] ??= both ? "RequireDualStack" : "SingleStack";
  return undefined;
}

function takeAddress(
  object: ApiObject,
  spec: JsonObject,
  wanted: string,
  { context, allocator }: { readonly context: StrategyContext; readonly allocator: Allocator },
): ApiStatus | undefined {
  const { name = "", uid } = object.metadata;
  const taken = new Set<string>();
  for (const other of context.list("/services")) {
    if (other.metadata.uid !== uid) taken.add(textIn(objectIn(other, "spec"), "clusterIP"));
  }
  if (wanted === "") {
    const free = nextFree(allocator.range, taken, allocator.last);
    if (free === undefined) return internalError("failed to allocate a serviceIP: range is full");
    spec["clusterIP"] = free;
    allocator.last = toNumber(free);
    return undefined;
  }
  // What is no address is for validation to say.
  if (isIP(wanted) === 0) return undefined;
  const { range } = allocator;
  const why = !isInRange(range, wanted)
    ? "the provided network does not match the current range"
    : taken.has(wanted)
      ? "provided IP is already allocated"
      : undefined;
  if (why === undefined) return undefined;
  const body = `Invalid value: [${JSON.stringify(wanted)}]: failed to allocate IP ${wanted}: ${why}`;
  return invalidObject(KIND, name, [{ type: "FieldValueInvalid", field: "spec.clusterIPs", body }]);
}
