import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { ApiRecord } from "../api-client/api-client.ts";

/** An AdmissionRequest (admission.k8s.io/v1), as far as the local webhooks read it. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly namespace?: string;
  readonly name?: string;
  readonly userInfo: {
    readonly username: string;
    readonly groups?: readonly string[];
    readonly uid?: string;
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  readonly object?: ApiRecord | null;
  readonly oldObject?: ApiRecord | null;
}

/** A webhook's answer; a mutating one's may hold the operations of a JSON Patch. */
export type AdmissionAnswer =
  | { readonly allowed: true; readonly patch?: readonly object[] }
  | { readonly allowed: false; readonly code: number; readonly message: string };

/** Decides one kind of request; rejects when it cannot. */
export type AdmissionHandler = (request: AdmissionRequest) => Promise<AdmissionAnswer>;

/** HTTPS server for AdmissionReview requests, one handler a path. */
export class WebhookServer {
  readonly #server: Server;

  constructor(
    tls: { readonly cert: string; readonly key: string },
    handlers: Readonly<Record<string, AdmissionHandler>>,
  ) {
    this.#server = createServer(tls, (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        void review(handlers[request.url?.split("?")[0] ?? ""], Buffer.concat(chunks).toString("utf8")).then(
          (answer) => {
            response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
            response.end(JSON.stringify(answer ?? {}));
          },
        );
      });
    });
  }

  /** Starts on a port of 127.0.0.1 and answers the base URL. */
  async start(port = 0): Promise<string> {
    this.#server.listen(port, "127.0.0.1");
    await once(this.#server, "listening");
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends every connection; the API server then finds no webhook, as with a controller Pod that is down. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

async function review(handler: AdmissionHandler | undefined, body: string): Promise<unknown> {
  if (handler === undefined) return undefined;
  const { request } = JSON.parse(body) as { request: AdmissionRequest };
  let answer: AdmissionAnswer;
  try {
    answer = await handler(request);
  } catch (error) {
    answer = { allowed: false, code: 500, message: String(error) };
  }
  const response = answer.allowed
    ? { uid: request.uid, allowed: true, ...encodePatch(answer.patch ?? []) }
    : { uid: request.uid, allowed: false, status: { code: answer.code, message: answer.message } };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response };
}

function encodePatch(patch: readonly object[]): object {
  if (patch.length === 0) return {};
  return { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
}
