import { isIP } from "node:net";
import { type FieldError, invalid, notSupported, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { arrayIn, type JsonObject, objectsIn, textIn } from "../json.ts";
import { labelProblems, subdomainProblems } from "../names.ts";
import type { ResourceType } from "../resource-type.ts";
import { define } from "./define.ts";
import { int32, listOf, objectReference, struct, text, textPointer } from "./description.ts";
import { repackSubsets } from "./endpoint-subsets.ts";
import { validateAppProtocol, validatePortNumber } from "./service-ports.ts";
import { NO_ADDRESS } from "./service-validation.ts";

const addresses = listOf(struct({ ip: text, hostname: text, nodeName: textPointer, targetRef: objectReference }));

/**
 * v1 Endpoints.
 * @param repacks older servers repack the subsets whenever they store them, current ones keep them as they come
 */
export function endpoints(repacks: boolean): ResourceType {
  return define({
    kind: "Endpoints",
    resource: "endpoints",
    shortNames: ["ep"],
    namespaced: true,
    deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    schema: struct({
      subsets: listOf(
        struct({
          addresses,
          notReadyAddresses: addresses,
          ports: listOf(struct({ name: text, port: int32, protocol: text, appProtocol: textPointer })),
        }),
      ),
    }),
    strategy: {
      createOnUpdate: true,
      applyDefaults: (object) => {
        for (const subset of objectsIn(object, "subsets")) {
          for (const port of objectsIn(subset, "ports")) port["protocol"] ??= "TCP";
        }
      },
      validate,
      ...(repacks ? { canonicalize: repack } : {}),
    },
  });
}

function repack(object: ApiObject): void {
  const packed = repackSubsets(objectsIn(object, "subsets"));
  if (packed.length === 0) delete object["subsets"];
  else object["subsets"] = packed;
}

function validate(object: ApiObject): readonly FieldError[] {
  return objectsIn(object, "subsets").flatMap((subset, i) => {
    const path = `subsets[${i}]`;
    const ready = objectsIn(subset, "addresses");
    const unready = objectsIn(subset, "notReadyAddresses");
    const empty = ready.length + unready.length === 0;
    return [
      ...(empty ? [required(path, "must specify `addresses` or `notReadyAddresses`")] : []),
      ...ready.flatMap((a, j) => validateAddress(a, `${path}.addresses[${j}]`)),
      ...unready.flatMap((a, j) => validateAddress(a, `${path}.notReadyAddresses[${j}]`)),
      ...objectsIn(subset, "ports").flatMap((port, j) =>
        validatePort(port, `${path}.ports[${j}]`, arrayIn(subset, "ports").length > 1),
      ),
    ];
  });
}

function validatePort(port: JsonObject, path: string, needsName: boolean): readonly FieldError[] {
  const name = textIn(port, "name");
  const errors: FieldError[] = [];
  if (name === "" && needsName) errors.push(required(`${path}.name`));
  else if (name !== "") errors.push(...labelProblems(name).map((p) => invalid(`${path}.name`, name, p)));
  errors.push(...validatePortNumber(port["port"] ?? 0, `${path}.port`));
  const protocol = textIn(port, "protocol");
  const known = ["SCTP", "TCP", "UDP"];
  if (!known.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, known));
  return [...errors, ...validateAppProtocol(port, path)];
}

function validateAddress(address: JsonObject, path: string): readonly FieldError[] {
  const ip = textIn(address, "ip");
  const [hostname, nodeName] = [textIn(address, "hostname"), textIn(address, "nodeName")];
  return [
    ...validateIP(ip, `${path}.ip`),
    ...(hostname === "" ? [] : labelProblems(hostname).map((p) => invalid(`${path}.hostname`, hostname, p))),
    ...(nodeName === "" ? [] : subdomainProblems(nodeName).map((p) => invalid(`${path}.nodeName`, nodeName, p))),
  ];
}

function validateIP(ip: string, path: string): readonly FieldError[] {
  if (/^\d+(\.\d+){3}$/.test(ip) && /(^|\.)0\d/.test(ip)) return [invalid(path, ip, "must not have leading 0s")];
  if (isIP(ip) === 6 && ip.includes(".")) return [invalid(path, ip, "must not be an IPv4-mapped IPv6 address")];
  const malformed = isIP(ip) === 0 ? [invalid(path, ip, NO_ADDRESS)] : [];
  return [...malformed, ...validateEndpointIP(ip, path)];
}

/** Addresses that no endpoint may have: none, loopback, link-local. */
export function validateEndpointIP(ip: string, path: string): readonly FieldError[] {
  if (isIP(ip) === 0) return [invalid(path, ip, "must be a valid IP address")];
  if (ip === "0.0.0.0" || ip === "::") return [invalid(path, ip, `may not be unspecified (${ip})`)];
  if (ip.startsWith("127.") || ip === "::1") {
    return [invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)")];
  }
  if (ip.startsWith("169.254.") || /^fe[89ab]/i.test(ip)) {
    return [invalid(path, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")];
  }
  return ip.startsWith("224.0.0.") || /^ff02:/i.test(ip)
    ? [invalid(path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")]
    : [];
}
