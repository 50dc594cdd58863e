import { readFileSync } from "node:fs";
import { type Cluster, KubeConfig, type User } from "@kubernetes/client-node";
import { Agent } from "undici";

/** A JSON object of the API, read loosely: the local controllers check what they use. */
export interface ApiRecord {
  apiVersion?: string;
  kind?: string;
  metadata: {
    name: string;
    namespace?: string;
    uid?: string;
    resourceVersion?: string;
    generation?: number;
    deletionTimestamp?: string;
    annotations?: Record<string, string>;
    labels?: Record<string, string>;
    finalizers?: string[];
    [field: string]: unknown;
  };
  [field: string]: unknown;
}

/** An answer of the API server: any code, and its JSON body. */
export interface ApiAnswer {
  readonly code: number;
  readonly body: ApiRecord & { items?: ApiRecord[]; message?: string };
}

const CALL_TIMEOUT_MS = 10_000;

/**
 * A plain client for the local world's own controllers: one cluster, the current context of a kubeconfig. Answers of
 * any code are returned; it rejects when there is no answer.
 */
export class ApiClient {
  readonly server: string;
  /** The CA of the server, PEM; empty where the kubeconfig has none. */
  readonly ca: string;
  readonly #agent: Agent;
  readonly #headers: Record<string, string>;

  /** @throws when the kubeconfig cannot be used; the message holds nothing of its content */
  constructor(kubeconfig: string, context?: string) {
    const { cluster, user } = readKubeconfig(kubeconfig, context);
    this.server = cluster.server.replace(/\/+$/, "");
    this.#headers = user.token === undefined ? {} : { authorization: `Bearer ${user.token}` };
    const tls = {
      ca: pem(cluster.caData, cluster.caFile),
      cert: pem(user.certData, user.certFile),
      key: pem(user.keyData, user.keyFile),
    };
    this.ca = tls.ca ?? "";
    this.#agent = new Agent({
      connect: Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined)),
      bodyTimeout: 0,
    });
  }

  /** One request; `path` begins with `/api` or `/apis`. */
  async request(method: string, path: string, body?: unknown, contentType = "application/json"): Promise<ApiAnswer> {
    const answer = await this.#agent.request({
      origin: new URL(this.server).origin,
      path: new URL(this.server).pathname.replace(/\/+$/, "") + path,
      method: method as "GET",
      headers: {
        ...this.#headers,
        accept: "application/json",
        ...(body === undefined ? {} : { "content-type": contentType }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    const text = await answer.body.text();
    return { code: answer.statusCode, body: parse(text) };
  }

  /** The lines of a watch, parsed, until the server ends it or `signal` fires. */
  async *watch(path: string, signal: AbortSignal): AsyncGenerator<{ type: string; object: ApiRecord }> {
    const answer = await this.#agent.request({
      origin: new URL(this.server).origin,
      path: new URL(this.server).pathname.replace(/\/+$/, "") + path,
      method: "GET",
      headers: { ...this.#headers, accept: "application/json" },
      signal,
    });
    if (answer.statusCode !== 200) {
      await answer.body.dump();
      yield { type: "ERROR", object: { metadata: { name: "" }, code: answer.statusCode } };
      return;
    }
    let rest = "";
    for await (const chunk of answer.body.setEncoding("utf8")) {
      const lines = (rest + String(chunk)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line !== "") yield JSON.parse(line) as { type: string; object: ApiRecord };
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function readKubeconfig(text: string, context: string | undefined): { cluster: Cluster; user: User } {
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
  } catch {
    // The parser's message quotes the text, which holds secrets.
    throw new Error(
      "the kubeconfig is no kubeconfig: give it as kubectl config view --raw --minify --flatten writes it",
    );
  }
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = config.getCurrentCluster();
  const user = config.getCurrentUser();
  if (cluster === null || user === null) {
    const wanted = context === undefined ? "usable current context" : `context "${context}"`;
    throw new Error(`the kubeconfig has no ${wanted} with a cluster and a user`);
  }
  if (user.exec !== undefined || user.authProvider !== undefined) {
    throw new Error("the kubeconfig names a credential plugin: use a token or a client certificate");
  }
  return { cluster, user };
}

function pem(data: string | undefined, file: string | undefined): string | undefined {
  if (data !== undefined) return Buffer.from(data, "base64").toString("utf8");
  return file === undefined ? undefined : readFileSync(file, "utf8");
}

function parse(text: string): ApiAnswer["body"] {
  try {
    return JSON.parse(text) as ApiAnswer["body"];
  } catch {
    return { metadata: { name: "" }, message: text };
  }
}
