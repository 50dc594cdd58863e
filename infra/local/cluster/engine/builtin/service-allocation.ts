import { isIP } from "node:net";
import type { FieldError } from "../../field-error.ts";
import { internalError, invalidObject } from "../../status.ts";
import type { ApiObject, ApiStatus } from "../../types.ts";
import { isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import type { StrategyContext } from "../resource-type.ts";
import { type AddressRange, isInRange, nextFree, toNumber } from "./cluster-ip.ts";
import { hasNodePorts } from "./service-defaults.ts";
import { addressErrors } from "./service-validation.ts";

const KIND = { group: "", kind: "Service" };
const FIRST_NODE_PORT = 30_000;
const LAST_NODE_PORT = 32_767;

/** The range of addresses, and which was given out last. */
export interface Allocator {
  readonly range: AddressRange;
  last: number;
}

/** Gives addresses and node ports where the Service needs some, and fills the fields that follow from them. */
export function allocate(object: ApiObject, context: StrategyContext, allocator: Allocator): ApiStatus | undefined {
  const spec = object["spec"];
  if (!isJsonObject(spec) || spec["type"] === "ExternalName") return undefined;
  // What is no possible address is for validation to say, and is not looked for in the range.
  if (addressErrors(spec).length > 0) return undefined;
  const wanted = textIn(spec, "clusterIP");
  if (wanted !== "None") {
    const problem = takeAddress(object, spec, wanted, { context, allocator });
    if (problem !== undefined) return problem;
  }
  spec["clusterIPs"] ??= [spec["clusterIP"]];
  // Without address and selector a Service may have endpoints of both families.
  const both = wanted === "None" && Object.keys(objectIn(spec, "selector")).length === 0;
  spec["ipFamilies"] ??= both ? ["IPv4", "IPv6"] : ["IPv4"];
  spec["ipFamilyPolicy"] ??= both ? "RequireDualStack" : "SingleStack";
  return allocateNodePorts(object, context);
}

/** Opens a port on the nodes for each port of a Service that is to be reached from outside. */
export function allocateNodePorts(object: ApiObject, context: StrategyContext): ApiStatus | undefined {
  const spec = objectIn(object, "spec");
  if (!hasNodePorts(spec)) return undefined;
  const taken = new Set(
    others(object, context).flatMap((other) => objectsIn(other, "ports").map((p) => p["nodePort"])),
  );
  const errors: FieldError[] = [];
  objectsIn(spec, "ports").forEach((port, i) => {
    const asked = port["nodePort"];
    if (asked === undefined || asked === 0) {
      if (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] === false) return;
      port["nodePort"] = freeNodePort(taken);
    } else {
      const why = whyNot(asked, taken);
      const field = `spec.ports[${i}].nodePort`;
      const body = `Invalid value: ${JSON.stringify(asked)}: ${why}`;
      if (why !== undefined) errors.push({ type: "FieldValueInvalid", field, body });
    }
    taken.add(port["nodePort"]);
  });
  return errors.length === 0 ? undefined : invalidObject(KIND, object.metadata.name ?? "", errors);
}

function whyNot(port: unknown, taken: ReadonlySet<unknown>): string | undefined {
  if (typeof port !== "number" || port < FIRST_NODE_PORT || port > LAST_NODE_PORT) {
    const range = `${FIRST_NODE_PORT}-${LAST_NODE_PORT}`;
    return `provided port is not in the valid range. The range of valid ports is ${range}`;
  }
  return taken.has(port) ? "provided port is already allocated" : undefined;
}

function freeNodePort(taken: ReadonlySet<unknown>): number | undefined {
  for (let port = FIRST_NODE_PORT; port <= LAST_NODE_PORT; port += 1) if (!taken.has(port)) return port;
  return undefined;
}

/** The specs of all other Services of the cluster. */
function others(object: ApiObject, context: StrategyContext): readonly JsonObject[] {
  return context
    .list("/services")
    .filter((other) => other.metadata.uid !== object.metadata.uid)
    .map((other) => objectIn(other, "spec"));
}

function takeAddress(
  object: ApiObject,
  spec: JsonObject,
  wanted: string,
  { context, allocator }: { readonly context: StrategyContext; readonly allocator: Allocator },
): ApiStatus | undefined {
  const { range } = allocator;
  const taken = new Set(others(object, context).map((other) => textIn(other, "clusterIP")));
  if (wanted === "") {
    const free = nextFree(range, taken, allocator.last);
    if (free === undefined) return internalError("failed to allocate a serviceIP: range is full");
    spec["clusterIP"] = free;
    allocator.last = toNumber(free);
    return undefined;
  }
  if (isIP(wanted) === 0) return undefined;
  const why = !isInRange(range, wanted)
    ? "the provided network does not match the current range"
    : taken.has(wanted)
      ? "provided IP is already allocated"
      : undefined;
  if (why === undefined) return undefined;
  const body = `Invalid value: [${JSON.stringify(wanted)}]: failed to allocate IP ${wanted}: ${why}`;
  const error = { type: "FieldValueInvalid", field: "spec.clusterIPs", body } as const;
  return invalidObject(KIND, object.metadata.name ?? "", [error]);
}
