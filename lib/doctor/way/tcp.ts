import type { Clock } from "../../base/clock.ts";
import { endpointOf, openTcp } from "../../kube/reach.ts";
import type { Asked, Examination } from "../examination.ts";
import { passed, wrong } from "../finding.ts";
import type { Target, Way } from "./way.ts";

const TIMEOUT_MS = 2_000;

/** Somebody listens on the port. */
export function checkTcp(
  examination: Examination,
  { side, ports }: Way,
  clock: Clock,
  target: Asked<Target>,
  name: Asked<void>,
): Asked<void> {
  return examination.ask({
    side,
    check: "tcp",
    needs: [target, name],
    tries: ({ connection }) => {
      const { host, port } = endpointOf(connection, ports.proxyFor(connection));
      return `open a TCP connection to ${host} port ${port}`;
    },
    timeoutMs: TIMEOUT_MS + 500,
    ask: async ([{ connection }], signal) => {
      const endpoint = endpointOf(connection, ports.proxyFor(connection));
      const opened = await openTcp(endpoint, { clock, timeoutMs: TIMEOUT_MS, signal });
      if (opened.ok) return passed(undefined, "connected");
      const test = `nc -vz ${endpoint.host} ${endpoint.port}`;
      return wrong("APIServerUnreachable", opened.error.words, `${opened.error.remedy}: ${test}`);
    },
  });
}
