import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";
import type { TestContext } from "node:test";
import type { ContractClient } from "./contract-client.ts";

/** Node's own limit of what a client sends is smaller than that of API servers, in bytes. */
const HEADERS_LIMIT = 4 * 1024 * 1024;

/** One HTTP/2 connection, whose streams and end a case looks at. */
export class SharedConnection {
  readonly #session: ClientHttp2Session;
  readonly #prefix: string;
  /** Resolves when the server takes no more requests on it. */
  readonly goneAway: Promise<void>;

  constructor(t: TestContext, { server, ca }: Pick<ContractClient, "server" | "ca">) {
    this.#prefix = server.pathname.replace(/\/+$/, "");
    this.#session = connect(server.origin, { ca, maxSendHeaderBlockLength: HEADERS_LIMIT });
    this.#session.on("error", () => {});
    this.goneAway = new Promise((resolve) => {
      this.#session.on("goaway", () => resolve());
      this.#session.on("close", () => resolve());
    });
    t.after(() => this.#session.destroy());
  }

  /** Whether it still takes requests. */
  get open(): boolean {
    return !this.#session.closed && !this.#session.destroyed;
  }

  /** Resolves when the connection is up and the server has said how it wants it. */
  async ready(): Promise<void> {
    await once(this.#session, "remoteSettings");
  }

  /** Sends a GET. */
  get(path: string, headers: Readonly<Record<string, string>> = {}): SharedStream {
    return new SharedStream(this.#session.request({ ":path": this.#prefix + path, ...headers }));
  }
}

/** One request on a shared connection. */
export class SharedStream {
  readonly #stream: ClientHttp2Stream;
  /** The answer's code; 0 where the stream ended without one. */
  readonly code: Promise<number>;
  #text = "";

  constructor(stream: ClientHttp2Stream) {
    this.#stream = stream;
    // What went wrong shows in the code and in what did not come.
    stream.on("error", () => {});
    stream.setEncoding("utf8");
    stream.on("data", (piece: string) => {
      this.#text += piece;
    });
    this.code = new Promise((resolve) => {
      stream.on("response", (head) => resolve(head[":status"] ?? 0));
      stream.on("close", () => resolve(0));
    });
  }

  /** Whether the server refused it unread, so that it may be sent again. */
  get refused(): boolean {
    return this.#stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
  }

  /** Resolves when the text that has come holds these words. */
  async told(words: string): Promise<void> {
    while (!this.#text.includes(words)) await once(this.#stream, "data");
  }

  /** Takes no more of it, as a client does that leaves a watch. */
  cancel(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL);
  }
}
