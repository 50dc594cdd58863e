import { isIP } from "node:net";
import { type FieldError, invalid, notSupported, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { arrayIn, type JsonObject, objectsIn, textIn } from "../json.ts";
import { labelProblems } from "../names.ts";
import type { ResourceType } from "../resource-type.ts";
import { define } from "./define.ts";
import { int32, listOf, objectReference, struct, text, textPointer } from "./description.ts";
import { repackSubsets } from "./endpoint-subsets.ts";
import { validatePortNumber } from "./service-validation.ts";

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
      ...ready.flatMap((a, j) => validateAddress(textIn(a, "ip"), `${path}.addresses[${j}].ip`)),
      ...unready.flatMap((a, j) => validateAddress(textIn(a, "ip"), `${path}.notReadyAddresses[${j}].ip`)),
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
  return known.includes(protocol) ? errors : [...errors, notSupported(`${path}.protocol`, protocol, known)];
}

function validateAddress(ip: string, path: string): readonly FieldError[] {
  const words = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
  const malformed = isIP(ip) === 0 ? [invalid(path, ip, words)] : [];
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
