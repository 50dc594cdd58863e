import { isIP } from "node:net";
import { type FieldError, fieldForbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { arrayIn, type JsonObject, objectIn, objectsIn, textIn, textsIn } from "../json.ts";
import { labelValueProblems, qualifiedNameProblems, subdomainProblems } from "../names.ts";
import { hasNodePorts } from "./service-defaults.ts";
import { validatePorts } from "./service-ports.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const FAMILIES = ["IPv4", "IPv6"];
const DAY_S = 86_400;

/** The words for what is no IP address. */
export const NO_ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/** Complaints about a Service. */
export function validateService(object: ApiObject): readonly FieldError[] {
  const spec = objectIn(object, "spec");
  const type = textIn(spec, "type");
  const headless = textIn(spec, "clusterIP") === "None";
  const ports = objectsIn(spec, "ports");
  const errors: FieldError[] = [];
  if (ports.length === 0 && !headless && type !== "ExternalName") errors.push(required("spec.ports"));
  if (headless && hasNodePorts(spec)) {
    errors.push(invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`));
  }
  if (type === "ExternalName") errors.push(...validateExternalName(spec));
  errors.push(...validatePorts(ports, hasNodePorts(spec) ? undefined : type));
  for (const [key, value] of Object.entries(textsIn(spec, "selector"))) {
    errors.push(...qualifiedNameProblems(key).map((p) => invalid("spec.selector", key, p)));
    errors.push(...labelValueProblems(value).map((p) => invalid("spec.selector", value, p)));
  }
  errors.push(...validateAffinity(spec));
  if (type !== "ExternalName") errors.push(...addressErrors(spec));
  arrayIn(spec, "externalIPs").forEach((ip, i) => {
    if (isIP(String(ip)) === 0) errors.push(invalid(`spec.externalIPs[${i}]`, ip, NO_ADDRESS));
  });
  if (!TYPES.includes(type)) errors.push(notSupported("spec.type", type, TYPES));
  const ingress = arrayIn(objectIn(objectIn(object, "status"), "loadBalancer"), "ingress");
  if (ingress.length > 0 && type !== "LoadBalancer") {
    const words = "may only be used when `spec.type` is 'LoadBalancer'";
    errors.push(fieldForbidden("status.loadBalancer.ingress", words));
  }
  return [...errors, ...validateTraffic(spec)];
}

/** The address is for ever, unless the Service becomes one without. */
export function validateServiceUpdate(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const now = objectIn(object, "spec");
  const before = objectIn(old, "spec");
  if (textIn(now, "type") === "ExternalName" || textIn(before, "type") === "ExternalName") return [];
  const is = arrayIn(now, "clusterIPs")[0];
  const was = arrayIn(before, "clusterIPs")[0];
  if (was === undefined || is === was) return [];
  return [invalid("spec.clusterIPs[0]", arrayIn(now, "clusterIPs"), "may not change once set")];
}

/** Complaints about the addresses and families that a Service asks for; the clusters here know IPv4 alone. */
export function addressErrors(spec: JsonObject): readonly FieldError[] {
  const [ip, ips, families] = [
    textIn(spec, "clusterIP"),
    arrayIn(spec, "clusterIPs"),
    arrayIn(spec, "ipFamilies").map(String),
  ];
  const policy = textIn(spec, "ipFamilyPolicy");
  const headless = ip === "None" && Object.keys(objectIn(spec, "selector")).length === 0;
  const errors: FieldError[] = [];
  if (ip === "" && ips.length > 0) {
    errors.push(invalid("spec.clusterIPs", ips, "must be empty when `clusterIP` is not specified"));
  } else if (ips.length > 0 && ips[0] !== ip) {
    errors.push(invalid("spec.clusterIPs", ips, "first value must match `clusterIP`"));
  }
  if (ips.length === 2 && isIP(String(ips[0])) === isIP(String(ips[1]))) {
    errors.push(invalid("spec.clusterIPs", ips, "may specify no more than one IP for each IP family"));
  }
  errors.push(...oneOf(spec, "ipFamilyPolicy", ["PreferDualStack", "RequireDualStack", "SingleStack"]));
  if (policy === "RequireDualStack" && !headless) {
    const words = "this cluster is not configured for dual-stack services";
    errors.push(invalid("spec.ipFamilyPolicy", policy, words));
  }
  families.forEach((family, i) => {
    const field = `spec.ipFamilies[${i}]`;
    if (!FAMILIES.includes(family)) errors.push(notSupported(field, family, FAMILIES));
  });
  if (headless) return errors;
  const given = ips.length > 0 ? ips : ip === "" ? [] : [ip];
  return [
    ...errors,
    ...given.flatMap((address, i) => addressError(address, i, { given, family: families[i] })),
    ...foreign(families, given),
  ];
}

function addressError(
  address: unknown,
  index: number,
  { given, family }: { readonly given: readonly unknown[]; readonly family: string | undefined },
): readonly FieldError[] {
  const field = `spec.clusterIPs[${index}]`;
  if (address === "None") return [];
  const found = isIP(String(address));
  if (found === 0) return [invalid(field, address, NO_ADDRESS)];
  if (family !== undefined && family !== `IPv${found}`) {
    return [invalid(field, address, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``)];
  }
  return found === 6 ? [invalid(field, given, "IPv6 is not configured on this cluster")] : [];
}

/** Families that this cluster does not have, unless the addresses are complained of already. */
function foreign(families: readonly string[], given: readonly unknown[]): readonly FieldError[] {
  if (given.length > 0) return [];
  return families.flatMap((family, i) =>
    family === "IPv6" ? [invalid(`spec.ipFamilies[${i}]`, family, "not configured on this cluster")] : [],
  );
}

function validateExternalName(spec: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (arrayIn(spec, "clusterIPs").length > 0 || textIn(spec, "clusterIP") !== "") {
    errors.push(fieldForbidden("spec.clusterIPs", "may not be set for ExternalName services"));
  }
  const name = textIn(spec, "externalName").replace(/\.$/, "");
  if (name === "") errors.push(required("spec.externalName"));
  else errors.push(...subdomainProblems(name).map((p) => invalid("spec.externalName", name, p)));
  return errors;
}

function validateAffinity(spec: JsonObject): readonly FieldError[] {
  const affinity = textIn(spec, "sessionAffinity");
  if (!["ClientIP", "None"].includes(affinity)) {
    return [notSupported("spec.sessionAffinity", affinity, ["ClientIP", "None"])];
  }
  const seconds = objectIn(objectIn(spec, "sessionAffinityConfig"), "clientIP")["timeoutSeconds"];
  if (typeof seconds !== "number" || (seconds > 0 && seconds <= DAY_S)) return [];
  const field = "spec.sessionAffinityConfig.clientIP.timeoutSeconds";
  return [invalid(field, seconds, `must be greater than 0 and less than ${DAY_S}`)];
}

function validateTraffic(spec: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const outside = spec["externalTrafficPolicy"];
  if (outside !== undefined && !hasNodePorts(spec) && spec["externalIPs"] === undefined) {
    const words = "may only be set for externally-accessible services";
    errors.push(invalid("spec.externalTrafficPolicy", outside, words));
  }
  return [
    ...errors,
    ...oneOf(spec, "internalTrafficPolicy", ["Cluster", "Local"]),
    ...oneOf(spec, "trafficDistribution", ["PreferClose", "PreferSameZone", "PreferSameNode"]),
  ];
}

function oneOf(spec: JsonObject, field: string, allowed: readonly string[]): readonly FieldError[] {
  const value = textIn(spec, field);
  return spec[field] === undefined || allowed.includes(value) ? [] : [notSupported(`spec.${field}`, value, allowed)];
}
