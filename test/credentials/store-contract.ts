import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import type { CredentialStore } from "../../lib/credentials/store.ts";

const signal = new AbortController().signal;

/** What every credential store must do. */
export function credentialStoreContract(name: string, store: () => CredentialStore): void {
  const fresh = (): string => `/hawser/test/${randomUUID()}`;

  describe(`credential store: ${name}`, () => {
    test("says that there is nothing before the first write", async () => {
      const reference = fresh();

      const read = await store().read(reference, signal);

      assert.equal(!read.ok && read.error.kind, "notFound");
      assert.ok(!read.ok && read.error.problem.includes(reference) && read.error.remedy.length > 0);
    });

    test("gives back what was written, and replaces it", async () => {
      const reference = fresh();

      await store().write(reference, "first", signal);
      const written = await store().write(reference, "kind: Config\nname: ö€\n", signal);

      assert.equal(written.ok, true);
      assert.deepEqual(await store().read(reference, signal), { ok: true, value: "kind: Config\nname: ö€\n" });
    });

    test("keeps a kubeconfig with certificates", async () => {
      const reference = fresh();
      const secret = "x".repeat(6000);

      await store().write(reference, secret, signal);

      assert.deepEqual(await store().read(reference, signal), { ok: true, value: secret });
    });

    test("deletes, also what is gone", async () => {
      const reference = fresh();
      await store().write(reference, "canary", signal);

      const deleted = [await store().delete(reference, signal), await store().delete(reference, signal)];

      assert.ok(deleted.every((answer) => answer.ok));
      assert.equal((await store().read(reference, signal)).ok, false);
    });

    test("gives one of the secrets whole when many write at once", async () => {
      const reference = fresh();
      const secrets = Array.from({ length: 20 }, (_, i) => String(i).repeat(500));

      await Promise.all(secrets.map(async (secret) => await store().write(reference, secret, signal)));

      const read = await store().read(reference, signal);
      assert.ok(read.ok && secrets.includes(read.value));
    });

    test("does nothing for a caller that has gone", async () => {
      const gone = AbortSignal.abort(new Error("superseded"));

      const answers = [await store().read(fresh(), gone), await store().write(fresh(), "canary", gone)];

      assert.deepEqual(
        answers.map((a) => !a.ok && a.error.kind),
        ["timeout", "timeout"],
      );
    });
  });
}
