import { createHash } from "node:crypto";
import type { Proxy } from "./proxy.ts";
import type { ServerUrl } from "./server-url.ts";

/** How Hawser proves itself to an API server. Secrets: never logged. */
export type Credential =
  | { readonly kind: "token"; readonly token: string }
  /** PEM, both. */
  | { readonly kind: "certificate"; readonly certificate: string; readonly key: string };

/** Everything that is needed to speak to one API server with one credential. Holds secrets. */
export interface Connection {
  readonly server: ServerUrl;
  /** PEM certificates the server is verified with; undefined: the public roots that Node ships. */
  readonly ca: string | undefined;
  /** The name to verify the server's certificate for, where it is not the URL's host (`tls-server-name`). */
  readonly serverName?: string;
  /** A proxy of this connection's own (`proxy-url`); goes before the process' settings. */
  readonly proxy?: Proxy;
  readonly credential: Credential;
  /** The context's Namespace. */
  readonly namespace?: string;
}

/**
 * What a connection is used for. Kinds never share a socket: a watch must not stand in a beat's way, and sockets to
 * members are few and closed after use.
 */
export type Purpose = "beat" | "watch" | "member";

/**
 * The key of the sockets that a connection may share: same purpose, server, trust, way and TLS identity. Tokens are not
 * in it (they go with each request, so that all members of a hub share its connections), client certificates are.
 */
export function sharingKey(purpose: Purpose, connection: Connection, proxy: Proxy | undefined): string {
  const certificate = connection.credential.kind === "certificate" ? connection.credential : undefined;
  const parts = [
    connection.server.origin,
    connection.ca ?? null,
    connection.serverName ?? null,
    proxy?.origin ?? null,
    proxy?.authorization ?? null,
    certificate?.certificate ?? null,
    certificate?.key ?? null,
  ];
  return `${purpose} ${createHash("sha256").update(JSON.stringify(parts)).digest("base64url")}`;
}

/** What must never leave in a text: tokens, keys, proxy passwords. */
export function secretsOf(connection: Connection, proxy: Proxy | undefined): readonly string[] {
  const { credential } = connection;
  // Also as a Secret's data has it, padded or not: whoever echoes a request may echo that.
  const secrets = credential.kind === "token" ? [credential.token, ...inBase64(credential.token)] : [];
  if (proxy?.authorization !== undefined) secrets.push(proxy.authorization);
  return secrets;
}

function inBase64(text: string): readonly string[] {
  const padded = Buffer.from(text).toString("base64");
  return [padded, padded.replace(/=+$/, "")];
}
