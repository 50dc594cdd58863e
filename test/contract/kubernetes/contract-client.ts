import assert from "node:assert/strict";
import { KubeConfig } from "@kubernetes/client-node";
import { Agent, type Dispatcher } from "undici";
import type { ApiRecord } from "../../../infra/local/api-client/api-client.ts";

/** No single answer of an API server may take longer, in milliseconds. */
const ANSWER_LIMIT_MS = 30_000;

/** An answer, read to its end. */
export interface Answer {
  readonly code: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly text: string;
  /** The body as JSON. @throws when it is none */
  readonly json: ApiRecord & { readonly items?: ApiRecord[] };
}

/** One event of a watch. */
export interface WatchedEvent {
  readonly type: string;
  readonly object: ApiRecord;
}

/** What a request has beside its path. */
export interface Ask {
  /** An object is sent as JSON, a string as it is. */
  readonly body?: unknown;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Who asks; `"nobody"` sends no credential. */
export type Identity = { readonly token: string } | { readonly cert: string; readonly key: string } | "nobody";

/** Asks one API server and hands out what it answers, whatever it is. Rejects only where there is no answer. */
export class ContractClient {
  readonly server: URL;
  readonly ca: string;
  readonly #agent: Agent;
  readonly #token: string | undefined;

  constructor(server: URL, ca: string, identity: Identity) {
    this.server = server;
    this.ca = ca;
    const isToken = identity !== "nobody" && "token" in identity;
    this.#token = isToken ? identity.token : undefined;
    const certificate = identity === "nobody" || isToken ? {} : identity;
    this.#agent = new Agent({ connect: { ca, ...certificate }, bodyTimeout: 0 });
  }

  /** With the server and the credential of a kubeconfig's current context. */
  static of(kubeconfig: string): ContractClient {
    const config = new KubeConfig();
    config.loadFromString(kubeconfig);
    const cluster = config.getCurrentCluster();
    const user = config.getCurrentUser();
    assert.ok(cluster && user, "the kubeconfig has no usable current context");
    const { token, certData = "", keyData = "" } = user;
    const identity = token === undefined ? { cert: decode(certData), key: decode(keyData) } : { token };
    return new ContractClient(new URL(cluster.server), decode(cluster.caData ?? ""), identity);
  }

  /** The same server, asked by somebody else. The caller closes it. */
  as(identity: Identity): ContractClient {
    return new ContractClient(this.server, this.ca, identity);
  }

  async request(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.#send(method, path, ask, AbortSignal.timeout(ANSWER_LIMIT_MS));
    const text = await answer.body.text();
    return {
      code: answer.statusCode,
      headers: answer.headers,
      text,
      get json() {
        return JSON.parse(text) as Answer["json"];
      },
    };
  }

  /** Like `request`, for steps on the way: fails the test unless the answer is a success; hands out its body. */
  async must(method: string, path: string, body?: unknown, contentType?: string): Promise<Answer["json"]> {
    const answer = await this.request(method, path, { body, ...(contentType === undefined ? {} : { contentType }) });
    assert.ok(answer.code < 300, `${method} ${path}: ${answer.code} ${answer.text}`);
    return answer.json;
  }

  /** A watch, or list and watch, that the server has accepted. */
  async watch(path: string, ask: Ask = {}): Promise<Watching> {
    const controller = new AbortController();
    const answer = await this.#send("GET", path, ask, controller.signal);
    if (answer.statusCode !== 200) assert.fail(`GET ${path}: ${answer.statusCode} ${await answer.body.text()}`);
    return new Watching(answer, controller);
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #send(method: string, path: string, ask: Ask, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { body, contentType = "application/json", headers } = ask;
    return await this.#agent.request({
      origin: this.server.origin,
      path: this.server.pathname.replace(/\/+$/, "") + path,
      method: method as Dispatcher.HttpMethod,
      headers: {
        accept: "application/json",
        ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
        ...(body === undefined ? {} : { "content-type": contentType }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      signal,
    });
  }
}

/** The stream of a watch. */
export class Watching {
  readonly #answer: Dispatcher.ResponseData;
  readonly #controller: AbortController;
  readonly #events: AsyncGenerator<WatchedEvent, void>;

  constructor(answer: Dispatcher.ResponseData, controller: AbortController) {
    this.#answer = answer;
    this.#controller = controller;
    this.#events = this.#read();
  }

  get headers(): Dispatcher.ResponseData["headers"] {
    return this.#answer.headers;
  }

  /** The next event; undefined where the server has ended the watch. Fails when nothing comes. */
  async next(limitMs = ANSWER_LIMIT_MS): Promise<WatchedEvent | undefined> {
    const timer = AbortSignal.timeout(limitMs);
    const silence = new Promise<never>((_, reject) => {
      timer.addEventListener("abort", () => reject(new Error(`the watch was silent for ${limitMs} ms`)));
    });
    const { value } = await Promise.race([this.#events.next(), silence]);
    return value === undefined ? undefined : value;
  }

  /** All events until the server ends the watch. */
  async rest(limitMs = ANSWER_LIMIT_MS): Promise<readonly WatchedEvent[]> {
    const events: WatchedEvent[] = [];
    for (let event = await this.next(limitMs); event !== undefined; event = await this.next(limitMs))
      events.push(event);
    return events;
  }

  /** Leaves the watch. */
  leave(): void {
    this.#controller.abort();
    // The aborted body tells it as an error, which nobody waits for.
    this.#answer.body.on("error", () => {});
  }

  async *#read(): AsyncGenerator<WatchedEvent, void> {
    let rest = "";
    for await (const chunk of this.#answer.body.setEncoding("utf8")) {
      const lines = (rest + String(chunk)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") yield JSON.parse(line) as WatchedEvent;
    }
  }
}

function decode(base64: string): string {
  return Buffer.from(base64, "base64").toString("utf8");
}
