import type { ConnectionFault } from "../../kube/connection-fault.ts";
import { endpointOf, lookUp } from "../../kube/reach.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { Target, Way } from "./way.ts";

/** The host name of the API server, or of the proxy on the way, has an address. */
export function checkName(examination: Examination, { side, ports }: Way, target: Asked<Target>): Asked<void> {
  return examination.ask({
    side,
    check: "dns",
    needs: [target],
    tries: ({ connection }) => `resolve ${endpointOf(connection, ports.proxyFor(connection)).host}`,
    timeoutMs: 2_500,
    ask: async ([{ connection }]) => {
      const { host, isProxy } = endpointOf(connection, ports.proxyFor(connection));
      const found = await lookUp(host);
      if (!found.ok) return unresolved(found.error, host);
      const proxy = isProxy ? " (the proxy; it resolves the server's name itself)" : "";
      return passed(undefined, `${found.value.join(", ")}${proxy}`);
    },
  });
}

function unresolved({ words }: ConnectionFault, host: string): Finding<void> {
  const remedy = `Correct the host name, or make it known here: dig ${host}; a private zone must be tied to this network`;
  return wrong("APIServerUnreachable", words, remedy);
}
