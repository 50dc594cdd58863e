import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** What a process can be asked: each call takes one argument and answers once. */
export type Calls = { readonly [name: string]: (argument: never) => Promise<unknown> };

interface Question {
  readonly id: number;
  readonly name: string;
  readonly argument: unknown;
}

interface Reply {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

/** A process of a bench, asked by calls. It ends with us, however we end. */
export class Child<C extends Calls> implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #asked = 0;

  /** @param file a script that calls {@link serveCalls} */
  constructor(file: URL, nodeOptions: readonly string[] = []) {
    this.#process = fork(file, [], {
      serialization: "advanced",
      execArgv: [...nodeOptions],
      // Log lines and metrics are written, and read by nobody.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#process.on("message", (message) => this.#take(message as Reply));
    this.#process.once("exit", (code, signal) => {
      const error = new Error(`a process of the bench ended with ${signal ?? code}`);
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    });
  }

  async call<K extends keyof C & string>(name: K, argument: Parameters<C[K]>[0]): Promise<Awaited<ReturnType<C[K]>>> {
    if (!this.#process.connected) throw new Error(`a process of the bench has ended before it was asked to ${name}`);
    this.#asked += 1;
    const question: Question = { id: this.#asked, name, argument };
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(question.id, answer);
    this.#process.send(question);
    return (await answer.promise) as Awaited<ReturnType<C[K]>>;
  }

  /** Ends the process and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    if (this.#process.connected) this.#process.disconnect();
    await exited;
  }

  #take({ id, value, error }: Reply): void {
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) answer?.resolve(value);
    else answer?.reject(new Error(error));
  }
}

/** For the process itself: answers calls until the one who started it is gone, and then ends at once. */
export function serveCalls(calls: Calls): void {
  process.on("message", (message) => {
    const { id, name, argument } = message as Question;
    const call = calls[name] as ((argument: unknown) => Promise<unknown>) | undefined;
    if (call === undefined) throw new Error(`this process knows no call ${name}`);
    call(argument).then(
      (value) => process.send?.({ id, value } satisfies Reply),
      (error: unknown) =>
        process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.once("disconnect", () => process.exit(0));
}
