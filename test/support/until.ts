/** Waits for something that I/O brings about, turn by turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turn();
}

/** Lets loopback I/O that is under way arrive. */
export async function settleIo(): Promise<void> {
  for (let i = 0; i < 50; i += 1) await turn();
}

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
