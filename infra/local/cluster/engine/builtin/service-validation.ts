import { isIP } from "node:net";
import { duplicate, type FieldError, fieldForbidden, invalid, notSupported, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { arrayIn, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { labelProblems, subdomainProblems } from "../names.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** Complaints about a Service. */
export function validateService(object: ApiObject): readonly FieldError[] {
  const spec = objectIn(object, "spec");
  const type = textIn(spec, "type");
  const errors: FieldError[] = [];
  const headless = textIn(spec, "clusterIP") === "None";
  const ports = objectsIn(spec, "ports");
  if (ports.length === 0 && !headless && type !== "ExternalName") errors.push(required("spec.ports"));
  if (headless && (type === "LoadBalancer" || type === "NodePort")) {
    errors.push(invalid("spec.clusterIPs[0]", "None", `may not be set to 'None' for ${type} services`));
  }
  if (type === "ExternalName") errors.push(...validateExternalName(spec));
  errors.push(...validatePorts(ports));
  const affinity = textIn(spec, "sessionAffinity");
  if (affinity === "") errors.push(required("spec.sessionAffinity"));
  else if (!["ClientIP", "None"].includes(affinity)) {
    errors.push(notSupported("spec.sessionAffinity", affinity, ["ClientIP", "None"]));
  }
  arrayIn(spec, "clusterIPs").forEach((ip, i) => {
    if (ip !== "None" && isIP(String(ip)) === 0) {
      errors.push(
        invalid(`spec.clusterIPs[${i}]`, ip, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
      );
    }
  });
  if (type === "") errors.push(required("spec.type"));
  else if (!TYPES.includes(type)) errors.push(notSupported("spec.type", type, TYPES));
  return [...errors, ...validateDuplicates(ports)];
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

function validateExternalName(spec: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (arrayIn(spec, "clusterIPs").length > 0) {
    errors.push(fieldForbidden("spec.clusterIPs", "may not be set for ExternalName services"));
  }
  const name = textIn(spec, "externalName").replace(/\.$/, "");
  if (name === "") errors.push(required("spec.externalName"));
  else errors.push(...subdomainProblems(name).map((p) => invalid("spec.externalName", name, p)));
  return errors;
}

function validatePorts(ports: readonly JsonObject[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  ports.forEach((port, i) => {
    const path = `spec.ports[${i}]`;
    const name = textIn(port, "name");
    if (name === "" && ports.length > 1) errors.push(required(`${path}.name`));
    if (name !== "") {
      errors.push(...labelProblems(name).map((p) => invalid(`${path}.name`, name, p)));
      if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
      names.add(name);
    }
    errors.push(...validatePortNumber(port["port"] ?? 0, `${path}.port`));
    const protocol = textIn(port, "protocol");
    if (!PROTOCOLS.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, PROTOCOLS));
    const target = port["targetPort"];
    if (typeof target === "number") errors.push(...validatePortNumber(target, `${path}.targetPort`));
  });
  return errors;
}

/** Complaints about a port's number. */
export function validatePortNumber(value: unknown, path: string): readonly FieldError[] {
  const good = typeof value === "number" && value >= 1 && value <= 65_535;
  return good ? [] : [invalid(path, value, "must be between 1 and 65535, inclusive")];
}

function validateDuplicates(ports: readonly JsonObject[]): readonly FieldError[] {
  const seen = new Set<string>();
  return ports.flatMap((port, i) => {
    const key = `${textIn(port, "protocol")}/${String(port["port"])}`;
    if (!seen.has(key)) {
      seen.add(key);
      return [];
    }
    const rest = { AppProtocol: null, TargetPort: 0, NodePort: 0 };
    const shown = { Name: "", Protocol: port["protocol"], Port: port["port"], ...rest };
    return [duplicate(`spec.ports[${i}]`, shown)];
  });
}
