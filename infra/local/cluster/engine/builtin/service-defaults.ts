import type { ApiObject } from "../../types.ts";
import { equalJson, isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";

/** Types that have ports on the nodes. */
const OUTSIDE = ["NodePort", "LoadBalancer"];
/** What only a Service with an address of the cluster has. */
const INSIDE_FIELDS = ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"];

/** True for a Service whose ports are open on the nodes, too. */
export function hasNodePorts(spec: JsonObject): boolean {
  return OUTSIDE.includes(textIn(spec, "type"));
}

/** Fills what a Service leaves out. */
export function applyServiceDefaults(object: ApiObject): void {
  object["status"] ??= { loadBalancer: {} };
  object["spec"] ??= {};
  const spec = object["spec"];
  if (!isJsonObject(spec)) return;
  spec["sessionAffinity"] ??= "None";
  if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
  if (spec["sessionAffinity"] === "ClientIP")
    spec["sessionAffinityConfig"] ??= { clientIP: { timeoutSeconds: 10_800 } };
  spec["type"] ??= "ClusterIP";
  if (hasNodePorts(spec) || spec["externalIPs"] !== undefined) spec["externalTrafficPolicy"] ??= "Cluster";
  if (spec["type"] === "LoadBalancer") spec["allocateLoadBalancerNodePorts"] ??= true;
  if (spec["type"] !== "ExternalName") spec["internalTrafficPolicy"] ??= "Cluster";
  for (const port of objectsIn(spec, "ports")) {
    port["protocol"] ??= "TCP";
    if (port["targetPort"] === undefined || port["targetPort"] === 0 || port["targetPort"] === "") {
      port["targetPort"] = port["port"] ?? 0;
    }
  }
  for (const ingress of objectsIn(objectIn(objectIn(object, "status"), "loadBalancer"), "ingress")) {
    if (ingress["ip"] !== undefined) ingress["ipMode"] ??= "VIP";
  }
}

/** A change of type takes away what the new type does not have, where the update left it as it was. */
export function dropUnused(object: ApiObject, old: ApiObject): void {
  const spec = object["spec"];
  const before = objectIn(old, "spec");
  if (!isJsonObject(spec) || spec["type"] === before["type"]) return;
  const dropUntouched = (field: string): void => {
    if (equalJson(spec[field], before[field])) delete spec[field];
  };
  if (spec["type"] === "ExternalName")
    for (const field of [...INSIDE_FIELDS, "internalTrafficPolicy"]) dropUntouched(field);
  if (before["type"] === "ExternalName") dropUntouched("externalName");
  if (hasNodePorts(before) && !hasNodePorts(spec)) {
    if (spec["externalIPs"] === undefined) dropUntouched("externalTrafficPolicy");
    if (equalJson(nodePortsOf(spec), nodePortsOf(before))) {
      for (const port of objectsIn(spec, "ports")) delete port["nodePort"];
    }
    const status = objectIn(object, "status");
    if (before["type"] === "LoadBalancer") status["loadBalancer"] = {};
  }
  if (spec["type"] !== "LoadBalancer") dropUntouched("allocateLoadBalancerNodePorts");
}

function nodePortsOf(spec: JsonObject): readonly unknown[] {
  return objectsIn(spec, "ports").map((port) => port["nodePort"]);
}

/** An update that leaves the address out keeps it, and the ports on the nodes, too. Says whether there was an address. */
export function keepAllocated(object: ApiObject, old: ApiObject): boolean {
  const spec = object["spec"];
  const before = objectIn(old, "spec");
  const had = textIn(before, "clusterIP") !== "";
  if (!isJsonObject(spec) || spec["type"] === "ExternalName" || !had) return false;
  for (const field of INSIDE_FIELDS) spec[field] ??= before[field];
  // Who sets clusterIP alone means the first of clusterIPs, too.
  const untouched = equalJson(spec["clusterIPs"], before["clusterIPs"]);
  if (untouched && spec["clusterIP"] !== before["clusterIP"]) spec["clusterIPs"] = [spec["clusterIP"]];
  if (hasNodePorts(spec) && hasNodePorts(before)) keepNodePorts(spec, before);
  return true;
}

function keepNodePorts(spec: JsonObject, before: JsonObject): void {
  for (const port of objectsIn(spec, "ports")) {
    const same = objectsIn(before, "ports").find(
      (p) => p["port"] === port["port"] && p["protocol"] === port["protocol"],
    );
    if (same?.["nodePort"] !== undefined) port["nodePort"] ??= same["nodePort"];
  }
}
