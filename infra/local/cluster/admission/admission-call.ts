import { isIP } from "node:net";
import { Pool } from "undici";
import { type Clock, deadline } from "../../../../lib/base/clock.ts";
import { failed, ok, type Result } from "../../../../lib/base/result.ts";
import { isJsonObject, type JsonObject } from "../engine/json.ts";
import type { Webhook, WebhookService } from "./admission-rules.ts";
import { faultInGoWords, otherKindInGoWords, refusedInGoWords, undecodableInGoWords } from "./go-words.ts";

/** Where a Service of the cluster really listens, as `https://host:port`; undefined when it has no address. */
export type ServiceResolver = (service: WebhookService) => string | undefined;

/** Why a Service has no address. */
export type ServiceComplaint = (service: WebhookService) => string;

/** Calls webhooks over HTTPS, with connections kept per address and authority. Failures are told in Go's words, as clients match on them. */
export class WebhookCaller {
  readonly #clock: Clock;
  readonly #resolve: ServiceResolver;
  readonly #complain: ServiceComplaint;
  readonly #pools = new Map<string, Pool>();

  constructor(clock: Clock, resolve: ServiceResolver, complain: ServiceComplaint) {
    this.#clock = clock;
    this.#resolve = resolve;
    this.#complain = complain;
  }

  /** Sends an AdmissionReview and answers what comes back, or why there is nothing. */
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
      const { statusCode } = response;
      return statusCode >= 200 && statusCode < 300
        ? readReview(statusCode, text)
        : failed(`failed to call webhook: ${refusedInGoWords(statusCode, text)}`);
    } catch (error) {
      return failed(post + (limit.expired() ? "context deadline exceeded" : faultInGoWords(error, target)));
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
      return failed(`failed to call webhook: Post "${shown}": ${this.#complain(service)}`);
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

function readReview(code: number, text: string): Result<JsonObject, string> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  if (!isJsonObject(parsed)) return failed(`failed to call webhook: ${undecodableInGoWords(code, text, parsed)}`);
  const other = otherKindInGoWords(parsed);
  return other === undefined ? ok(parsed) : failed(`failed to call webhook: ${other}`);
}
