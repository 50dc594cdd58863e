import assert from "node:assert/strict";
import { test } from "node:test";
import { ok, type Result } from "../../lib/base/result.ts";
import type { CredentialError } from "../../lib/credentials/errors.ts";
import { GatheredReads } from "../../lib/credentials/gathered-reads.ts";

const never = new AbortController().signal;
const turn = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve));

/** A store whose calls are answered one by one, when told to. */
function store() {
  const calls: { readonly references: readonly string[]; readonly signal: AbortSignal; answer(): void }[] = [];
  const reads = new GatheredReads({
    most: 10,
    calls: 2,
    readAll: async (references, signal) => {
      const answered = Promise.withResolvers<ReadonlyMap<string, Result<string, CredentialError>>>();
      const answer = (): void => answered.resolve(new Map(references.map((name) => [name, ok(`secret of ${name}`)])));
      calls.push({ references, signal, answer });
      return await answered.promise;
    },
    givenUp: (reference) => ({ kind: "timeout", problem: reference, remedy: "" }),
  });
  return { calls, reads };
}

test("a thousand reads at once are a hundred calls, two at a time, and each gets its own", async () => {
  const { calls, reads } = store();
  const names = Array.from({ length: 1_000 }, (_, i) => `/clusters/c-${i}`);

  const all = Promise.all(names.map(async (name) => await reads.read(name, never)));
  let answered = 0;
  for (await turn(); answered < calls.length; await turn()) {
    assert.ok(calls.length - answered <= 2);
    calls[answered]?.answer();
    answered += 1;
  }

  assert.deepEqual(
    await all,
    names.map((name) => ok(`secret of ${name}`)),
  );
  assert.equal(calls.length, 100);
  assert.ok(calls.every(({ references }) => references.length <= 10));
});

test("the same reference is read once for all who wait for it", async () => {
  const { calls, reads } = store();

  const both = [reads.read("/a", never), reads.read("/a", never)];
  await turn();
  calls[0]?.answer();

  assert.deepEqual(await Promise.all(both), [ok("secret of /a"), ok("secret of /a")]);
  assert.deepEqual(
    calls.map(({ references }) => references),
    [["/a"]],
  );
});

test("who gives up is told at once, and a call that nobody waits for any more is ended", async () => {
  const { calls, reads } = store();
  const stop = new AbortController();

  const stopped = reads.read("/a", stop.signal);
  const other = reads.read("/b", never);
  await turn();
  stop.abort();
  const gaveUp = await stopped;
  assert.equal(calls[0]?.signal.aborted, false);
  calls[0]?.answer();
  assert.ok((await other).ok);

  assert.equal(!gaveUp.ok && gaveUp.error.kind, "timeout");
  const again = new AbortController();
  const alone = reads.read("/c", again.signal);
  await turn();
  again.abort();
  await alone;
  assert.equal(calls.at(-1)?.signal.aborted, true);
});
