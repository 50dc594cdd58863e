import { isIP } from "node:net";
import { duplicate, type FieldError, invalid, notSupported, required, tooMany } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { arrayIn, type JsonObject, objectsIn, textIn } from "../json.ts";
import { labelProblems, subdomainProblems } from "../names.ts";
import { define } from "./define.ts";
import { flag, int32, listOf, objectReference, struct, text, textMap, textPointer, texts } from "./description.ts";
import { validateEndpointIP } from "./endpoints.ts";
import { NO_ADDRESS } from "./service-validation.ts";

const MAX_ENDPOINTS = 1000;
const MAX_ADDRESSES = 100;
const TYPES = ["FQDN", "IPv4", "IPv6"];

/** discovery.k8s.io/v1 EndpointSlice. */
export const endpointSlices = define({
  group: "discovery.k8s.io",
  kind: "EndpointSlice",
  resource: "endpointslices",
  namespaced: true,
  schema: struct({
    addressType: text,
    endpoints: listOf(
      struct({
        addresses: texts,
        conditions: struct({ ready: flag, serving: flag, terminating: flag }),
        hostname: textPointer,
        targetRef: objectReference,
        deprecatedTopology: textMap,
        nodeName: textPointer,
        zone: textPointer,
        hints: struct({ forZones: listOf(struct({ name: text })) }),
      }),
    ),
    ports: listOf(struct({ name: textPointer, protocol: textPointer, port: int32, appProtocol: textPointer })),
  }),
  strategy: {
    generation: "contentAndLabels",
    applyDefaults: (object) => {
      // Neither list has omitempty.
      object["endpoints"] ??= null;
      object["ports"] ??= null;
      for (const port of objectsIn(object, "ports")) {
        port["name"] ??= "";
        port["protocol"] ??= "TCP";
      }
      for (const endpoint of objectsIn(object, "endpoints")) endpoint["conditions"] ??= {};
    },
    validate,
    validateUpdate: (object, old) =>
      object["addressType"] === old["addressType"]
        ? []
        : [invalid("addressType", object["addressType"], "field is immutable")],
  },
});

function validate(object: ApiObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const type = textIn(object, "addressType");
  if (type === "") errors.push(required("addressType"));
  else if (!TYPES.includes(type)) errors.push(notSupported("addressType", type, TYPES));
  const found = objectsIn(object, "endpoints");
  if (found.length > MAX_ENDPOINTS) errors.push(tooMany("endpoints", found.length, MAX_ENDPOINTS));
  found.forEach((endpoint, i) => {
    const path = `endpoints[${i}]`;
    errors.push(...validateAddresses(endpoint, type, `${path}.addresses`));
    const hostname = textIn(endpoint, "hostname");
    if (hostname !== "") errors.push(...labelProblems(hostname).map((p) => invalid(`${path}.hostname`, hostname, p)));
  });
  return [...errors, ...validatePorts(objectsIn(object, "ports"))];
}

function validatePorts(ports: readonly JsonObject[]): readonly FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, i) => {
    const errors: FieldError[] = [];
    const name = textIn(port, "name");
    if (name !== "") errors.push(...labelProblems(name).map((p) => invalid(`ports[${i}].name`, name, p)));
    if (names.has(name)) errors.push(duplicate(`ports[${i}].name`, name));
    names.add(name);
    const protocol = textIn(port, "protocol");
    const known = ["SCTP", "TCP", "UDP"];
    if (!known.includes(protocol)) errors.push(notSupported(`ports[${i}].protocol`, protocol, known));
    return errors;
  });
}

function validateAddresses(endpoint: JsonObject, type: string, path: string): readonly FieldError[] {
  const addresses = arrayIn(endpoint, "addresses");
  if (addresses.length === 0) return [required(path)];
  if (addresses.length > MAX_ADDRESSES) return [tooMany(path, addresses.length, MAX_ADDRESSES)];
  return addresses.flatMap((address, i) => {
    const ip = String(address);
    const at = `${path}[${i}]`;
    if (type === "FQDN") return subdomainProblems(ip).map((p) => invalid(at, ip, p));
    const family = type === "IPv6" ? 6 : 4;
    if (isIP(ip) === 0) return [invalid(at, ip, NO_ADDRESS)];
    return isIP(ip) === family ? validateEndpointIP(ip, at) : [invalid(path, ip, `must be an ${type} address`)];
  });
}
