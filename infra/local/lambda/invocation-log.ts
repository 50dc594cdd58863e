import type { Readable } from "node:stream";

const TAIL_BYTES = 4096;

/** The log of one environment: every line goes to a listener, and the last 4 KB of an invocation are kept. */
export class InvocationLog {
  readonly #listener: (line: string) => void;
  #tail = "";

  constructor(listener: (line: string) => void) {
    this.#listener = listener;
  }

  /** Takes the lines of a stream as they come. Only `\n` ends a line: the runtime writes `\r` within one. */
  follow(stream: Readable): void {
    let rest = "";
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.write(line);
    });
    stream.on("end", () => {
      if (rest !== "") this.write(rest);
    });
  }

  /** Adds a line. */
  write(line: string): void {
    this.#tail = `${this.#tail}${line}\n`.slice(-TAIL_BYTES);
    this.#listener(line);
  }

  /** An invocation begins: what came before belongs to another one, unless it was the initialization. */
  begin(keep: boolean): void {
    if (!keep) this.#tail = "";
  }

  /** The end of what was logged since the invocation began. */
  get tail(): string {
    return this.#tail;
  }
}
