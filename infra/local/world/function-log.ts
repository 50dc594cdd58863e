import { once } from "node:events";
import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { join } from "node:path";
import type { LogEvent } from "../lambda/lambda.ts";

/** What the functions wrote, in `functions.log` of the world's folder, one JSON object a line. Begins anew with each world. */
export class FunctionLog {
  readonly #stream: WriteStream;

  constructor(dataDir: string) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    this.#stream = createWriteStream(join(dataDir, "functions.log"), { mode: 0o600 });
  }

  /** Takes one line down. */
  write(event: LogEvent): void {
    this.#stream.write(`${JSON.stringify(event)}\n`);
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    this.#stream.end();
    await once(this.#stream, "close");
  }
}
