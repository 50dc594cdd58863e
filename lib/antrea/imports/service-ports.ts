import { isRecord } from "./resource-import.ts";

/** What of a Service's port is the import's: name, port, protocol. */
export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
}

/** The ports of a ServiceImport or a Service, as far as they can be read. */
export function readServicePorts(value: unknown): readonly ServicePort[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).flatMap(({ name, port, protocol }) =>
    typeof port === "number"
      ? [
          {
            ...(typeof name === "string" && name !== "" ? { name } : {}),
            port,
            protocol: typeof protocol === "string" && protocol !== "" ? protocol : "TCP",
          },
        ]
      : [],
  );
}

/**
 * The ports to write into a Service that has `observed`: undefined when name, port and protocol of all are right already.
 * What the server has added to a port (targetPort, nodePort) stays with it.
 */
export function planPorts(observed: unknown, wanted: readonly ServicePort[]): readonly unknown[] | undefined {
  const present = readServicePorts(observed);
  if (present.map(keyOf).toSorted().join() === wanted.map(keyOf).toSorted().join()) return undefined;
  const raw = Array.isArray(observed) ? observed.filter(isRecord) : [];
  return wanted.map((port) => raw.find((one) => readServicePorts([one]).some((p) => keyOf(p) === keyOf(port))) ?? port);
}

function keyOf({ name = "", port, protocol }: ServicePort): string {
  return `${name}/${port}/${protocol}`;
}
