import { isIP } from "node:net";
import { Pool } from "undici";
import { type Clock, deadline } from "../../../../lib/base/clock.ts";
import { failed, ok, type Result } from "../../../../lib/base/result.ts";
import { isJsonObject, type JsonObject, objectIn } from "../engine/json.ts";
import type { Webhook, WebhookService } from "./admission-rules.ts";

/** Where a Service of the cluster really listens, as `https://host:port`; undefined when it has no address. */
export type ServiceResolver = (service: WebhookService) => string | undefined;

/** Calls webhooks over HTTPS, with connections kept per address and authority. Failures are told in Go's words, as clients match on them. */
export class WebhookCaller {
  readonly #clock: Clock;
  readonly #resolve: ServiceResolver;
  readonly #pools = new Map<string, Pool>();

  constructor(clock: Clock, resolve: ServiceResolver) {
    this.#clock = clock;
    this.#resolve = resolve;
  }

  /** Sends an AdmissionReview and answers its `response`, or why there is none. */
  async call(hook: Webhook, review: JsonObject): Promise<Result<JsonObject, string>> {
    const address = this.#addressOf(hook);
    if (!address.ok) return address;
    const { shown, origin, path, serverName } = address.value;
    const post = `failed to call webhook: Post "${shown}": `;
    const target = new URL(origin);
    if (target.protocol !== "https:") return failed(`${post}only https is supported`);
    using limit = deadline(this.#clock, hook.timeoutSeconds * 1000);
    try {
      const response = await this.#pool(origin, hook.client.caPem, serverName).request({
        method: "POST",
        path,
        headers: { "content-type": "application/json", accept: "application/json", host: new URL(shown).host },
        body: JSON.stringify(review),
        signal: limit.signal,
      });
      const text = await response.body.text();
      return response.statusCode === 200
        ? readReview(text)
        : failed(`failed to call webhook: ${refusal(response.statusCode, text)}`);
    } catch (error) {
      return failed(post + (limit.expired() ? "context deadline exceeded" : inGoWords(error, target)));
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #pool(origin: string, caPem: string | undefined, servername: string): Pool {
    const key = `${origin} ${servername} ${caPem ?? ""}`;
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      // A server name must not be an IP address (RFC 6066); without one the address itself is checked.
      const connect = {
        ...(isIP(servername) === 0 ? { servername } : {}),
        ...(caPem === undefined ? {} : { ca: caPem }),
      };
      pool = new Pool(origin, { connect, headersTimeout: 0, bodyTimeout: 0, allowH2: false });
      this.#pools.set(key, pool);
    }
    return pool;
  }

  #addressOf(hook: Webhook): Result<Address, string> {
    const { url, service } = hook.client;
    const timeout = `timeout=${hook.timeoutSeconds}s`;
    if (url !== undefined) {
      const parsed = new URL(url);
      parsed.search = parsed.search === "" ? `?${timeout}` : `${parsed.search}&${timeout}`;
      return ok({
        shown: parsed.href,
        origin: parsed.origin,
        path: parsed.pathname + parsed.search,
        serverName: parsed.hostname.replace(/^\[|\]$/g, ""),
      });
    }
    if (service === undefined) return failed("webhook configuration must have either service or URL");
    const path = `/${service.path.replace(/^\//, "")}?${timeout}`;
    const serverName = `${service.name}.${service.namespace}.svc`;
    const shown = `https://${serverName}:${service.port}${path}`;
    const origin = this.#resolve(service);
    if (origin === undefined) {
      return failed(
        `failed to call webhook: Post "${shown}": no endpoints available for service ${JSON.stringify(service.name)}`,
      );
    }
    return ok({ shown, origin, path, serverName });
  }
}

interface Address {
  /** The URL as Kubernetes names it in messages. */
  readonly shown: string;
  readonly origin: string;
  readonly path: string;
  readonly serverName: string;
}

function readReview(text: string): Result<JsonObject, string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return failed(`failed to call webhook: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isJsonObject(parsed) || !isJsonObject(parsed["response"])) {
    return failed("received invalid webhook response: webhook response is nil");
  }
  return ok(objectIn(parsed, "response"));
}

function refusal(status: number, text: string): string {
  if (status === 404) return "the server could not find the requested resource";
  if (status >= 500)
    return `an error on the server (${JSON.stringify(text.trim())}) has prevented the request from succeeding`;
  return "the server rejected our request for an unknown reason";
}

/** A network or TLS failure as Go's HTTP client reports it. */
function inGoWords(error: unknown, target: URL): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  const address = `${target.hostname}:${target.port === "" ? "443" : target.port}`;
  const tls = "tls: failed to verify certificate: x509: ";
  switch (code) {
    case "ECONNREFUSED":
      return `dial tcp ${address}: connect: connection refused`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${target.hostname}: no such host`;
    case "ECONNRESET":
      return `read tcp ${address}: read: connection reset by peer`;
    case "UND_ERR_SOCKET":
      return "EOF";
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return `${tls}certificate has expired or is not yet valid`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `${tls}${message ?? "certificate is not valid for the name"}`;
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "CERT_SIGNATURE_FAILURE":
      return `${tls}certificate signed by unknown authority`;
    default:
      return message ?? String(error);
  }
}
