import { ProxyFailure } from "./connector.ts";

/** What went wrong below HTTP. */
export type ConnectionFault = {
  /** In words, for the message. */
  readonly words: string;
  readonly remedy: string;
} & (
  | { readonly kind: "tls"; readonly why: string }
  /** `broken`: a connection that had worked came to its end; the same request may go at once over another. */
  | { readonly kind: "network"; readonly code: string; readonly broken: boolean }
  | { readonly kind: "connectTimeout" }
);

const UNREACHABLE = "Check the server URL, DNS, firewall and security groups, and that the API server is up";
const CA = "Give the CA certificate that signed the server's certificate";

/** Certificate verification failures (OpenSSL's names, as Node gives them). */
const CERTIFICATE_FAULTS: Readonly<Record<string, readonly [why: string, remedy: string]>> = {
  CERT_HAS_EXPIRED: ["a certificate of the server or its CA has expired", "Renew the server's certificate"],
  CERT_NOT_YET_VALID: ["a certificate of the server is not yet valid", "Check the clocks of the server and of Hawser"],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["the server's certificate is self-signed", CA],
  SELF_SIGNED_CERT_IN_CHAIN: ["the server's certificate is signed by an unknown authority (self-signed CA)", CA],
  UNABLE_TO_GET_ISSUER_CERT: ["the server's certificate is signed by an unknown authority", CA],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["the server's certificate is signed by an unknown authority", CA],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["the server's certificate is signed by an unknown authority", CA],
  CERT_SIGNATURE_FAILURE: ["the server's certificate is signed by an unknown authority (same name, other key)", CA],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "the server's certificate is for another host name",
    "Use a server URL that the certificate names, or set tls-server-name",
  ],
};

/** Connections that could not be made: the request was not sent. */
const NO_CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the name server did not answer",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the network",
  ETIMEDOUT: "the connection timed out",
};

const BROKEN = new Set([
  "ECONNRESET",
  "EPIPE",
  "ECONNABORTED",
  "UND_ERR_SOCKET",
  "UND_ERR_INFO",
  "UND_ERR_CLOSED",
  "UND_ERR_DESTROYED",
  "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
]);

/** Names the fault behind an exception of undici, node:tls or node:net. */
export function connectionFault(error: unknown): ConnectionFault {
  if (error instanceof ProxyFailure) return proxyFault(error);
  const code = codeOf(error);
  const certificate = CERTIFICATE_FAULTS[code];
  if (certificate !== undefined) {
    return { kind: "tls", why: certificate[0], words: certificate[0], remedy: certificate[1] };
  }
  if (code === "UND_ERR_CONNECT_TIMEOUT") {
    return {
      kind: "connectTimeout",
      words: messageOf(error),
      remedy: `The endpoint may be private or filtered. ${UNREACHABLE}`,
    };
  }
  if (isHandshakeFault(code)) return handshakeFault(code, error);
  const none = NO_CONNECTION[code];
  if (none !== undefined) return { kind: "network", code, broken: false, words: none, remedy: UNREACHABLE };
  if (code === "SOCKETS_EXHAUSTED") {
    return {
      kind: "network",
      code,
      broken: false,
      words: messageOf(error),
      remedy: "Spread the clusters over more shards",
    };
  }
  const broken = BROKEN.has(code) || code.startsWith("ERR_HTTP2_") || code.startsWith("HPE_");
  return {
    kind: "network",
    code,
    broken,
    words: broken ? "the connection broke" : messageOf(error),
    remedy: "It is tried again; if it stays so, look at the load balancers and proxies on the way",
  };
}

function proxyFault(error: ProxyFailure): ConnectionFault {
  const through = `the proxy ${error.proxy}`;
  if (error.status !== undefined) {
    const remedy = error.status === 407 ? "Give the proxy's user name and password" : "Let the proxy allow this server";
    return {
      kind: "network",
      code: `PROXY_${error.status}`,
      broken: false,
      words: `${through} answered ${error.status} to CONNECT`,
      remedy,
    };
  }
  const inner = connectionFault(error.cause);
  if (inner.kind === "tls") {
    const why = `${through}: ${inner.why.replace("the server's", "its").replace("of the server", "of it")}`;
    return { kind: "tls", why, words: why, remedy: "Give the CA of the proxy" };
  }
  if (inner.kind === "connectTimeout") return { ...inner, words: `${through}: ${inner.words}` };
  // Whatever broke here, nothing was sent to the API server, and a further try at once would break as well.
  return {
    ...inner,
    broken: false,
    words: `${through}: ${inner.words}`,
    remedy: "Check the address of the proxy and that it is up",
  };
}

function isHandshakeFault(code: string): boolean {
  return (
    code.startsWith("ERR_SSL_") || code.startsWith("ERR_TLS_") || code.startsWith("ERR_OSSL_") || code === "EPROTO"
  );
}

function handshakeFault(code: string, error: unknown): ConnectionFault {
  const plain = code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG";
  const why = plain ? "the server does not speak TLS on this port" : `the TLS handshake failed (${code})`;
  const known = /ALERT/.test(code) || plain;
  return {
    kind: "tls",
    why,
    words: known ? why : `${why}: ${messageOf(error)}`,
    remedy: /CERTIFICATE|UNKNOWN_CA|CERT/.test(code)
      ? "Check the CA and the client certificate and its key"
      : "Check the host and port of the server URL",
  };
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0 && !("code" in error)) return codeOf(error.errors[0]);
  if (typeof error !== "object" || error === null) return "UNKNOWN";
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  if ("cause" in error && error.cause !== undefined) return codeOf(error.cause);
  return "UNKNOWN";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
