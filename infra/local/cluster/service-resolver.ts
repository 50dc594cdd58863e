import type { ServiceResolver } from "./admission-call.ts";
import type { WebhookService } from "./admission-rules.ts";
import { arrayIn, type JsonObject, objectIn, objectsIn, textIn } from "./json.ts";
import type { Engine } from "./types.ts";

/**
 * Where a Service really listens: at the first ready address of its Endpoints object, on the port whose name the
 * Service's port has (or its `targetPort`).
 */
export function endpointsResolver(engine: () => Pick<Engine, "readOne">): ServiceResolver {
  return (service) => {
    const found = engine().readOne("", "services", service.namespace, service.name);
    const endpoints = engine().readOne("", "endpoints", service.namespace, service.name);
    if (found === undefined || endpoints === undefined) return undefined;
    const port = objectsIn(objectIn(found, "spec"), "ports").find((p) => p["port"] === service.port);
    for (const subset of objectsIn(endpoints, "subsets")) {
      const address = objectsIn(subset, "addresses")[0];
      const target = targetPort(port, subset, service);
      if (address !== undefined && target !== undefined) return `https://${textIn(address, "ip")}:${target}`;
    }
    return undefined;
  };
}

function targetPort(port: JsonObject | undefined, subset: JsonObject, service: WebhookService): number | undefined {
  if (port === undefined) return undefined;
  const ports = objectsIn(subset, "ports");
  const named =
    ports.find((p) => textIn(p, "name") === textIn(port, "name")) ?? (ports.length === 1 ? ports[0] : undefined);
  if (typeof named?.["port"] === "number") return named["port"];
  if (arrayIn(subset, "ports").length > 0) return undefined;
  return typeof port["targetPort"] === "number" ? port["targetPort"] : service.port;
}
