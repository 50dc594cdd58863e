import type { Clock } from "../../base/clock.ts";
import type { ConnectionFault } from "../../kube/connection-fault.ts";
import { type Handshake, shakeHands } from "../../kube/reach.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { Target, Way } from "./way.ts";

const TIMEOUT_MS = 2_500;
const DAY_MS = 86_400_000;

/** The server proves by its certificate, verified with the CA that is given, that it is who it is to be. */
export function checkTls(
  examination: Examination,
  { side, ports }: Way,
  clock: Clock,
  target: Asked<Target>,
  tcp: Asked<void>,
): Asked<void> {
  return examination.ask({
    side,
    check: "tls",
    needs: [target, tcp],
    tries: ({ connection }) => `a TLS handshake with ${connection.server.href}`,
    timeoutMs: TIMEOUT_MS + 500,
    ask: async ([{ connection }], signal) => {
      const way = { proxy: ports.proxyFor(connection), proxyCa: ports.proxyCa };
      const shaken = await shakeHands(connection, way, { clock, timeoutMs: TIMEOUT_MS, signal });
      if (shaken.ok) return passed(undefined, describe(shaken.value, clock.now().getTime()));
      return unverified(shaken.error, `${connection.server.host}:${connection.server.port}`);
    },
  });
}

function describe({ protocol, validUntil }: Handshake, now: number): string {
  if (validUntil === undefined) return protocol;
  const days = Math.floor((validUntil - now) / DAY_MS);
  return `${protocol}, certificate valid until ${new Date(validUntil).toISOString().slice(0, 10)} (${days} days)`;
}

function unverified(fault: ConnectionFault, address: string): Finding<void> {
  const look = `openssl s_client -connect ${address} -showcerts </dev/null | openssl x509 -noout -issuer -subject -dates`;
  const cause = fault.kind === "tls" ? "TLSVerificationFailed" : "APIServerUnreachable";
  return wrong(cause, fault.words, `${fault.remedy}: ${look}`);
}
