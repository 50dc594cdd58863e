/**
 * The lines of JSON that `work` writes to standard output and standard error, which is where Lambda reads logs and
 * metrics. Other lines, the test runner's own among them, are passed on.
 */
export async function captureOutput(work: () => Promise<void>): Promise<readonly string[]> {
  const lines: string[] = [];
  const restore = [process.stdout, process.stderr].map((stream) => capture(stream, lines));
  try {
    await work();
  } finally {
    for (const put of restore) put();
  }
  return lines;
}

function capture(stream: NodeJS.WriteStream, lines: string[]): () => void {
  const write = stream.write.bind(stream);
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    if (!text.startsWith("{")) return Reflect.apply(write, undefined, [chunk, ...rest]) as boolean;
    lines.push(...text.split("\n").filter((line) => line !== ""));
    const done = rest.findLast((argument) => typeof argument === "function");
    if (typeof done === "function") Reflect.apply(done, undefined, []);
    return true;
  }) as typeof write;
  return () => {
    stream.write = write;
  };
}
