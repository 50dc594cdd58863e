import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileCredentials, readOrMakeKey } from "../../lib/credentials/file.ts";
import { credentialStoreContract } from "./store-contract.ts";

const root = await mkdtemp(join(tmpdir(), "hawser-credentials-"));
after(async () => await rm(root, { recursive: true }));
const signal = new AbortController().signal;
const key = await readOrMakeKey(join(root, "key"));
const newFolder = async (): Promise<string> => join(await mkdtemp(join(root, "case-")), "secrets");

credentialStoreContract("files", () => fileCredentials({ folder: join(root, "contract"), key }));

test("nothing of the secret or its name is in the folder, which only the owner may read", async () => {
  const folder = await newFolder();
  await fileCredentials({ folder, key }).write("/hawser/east", "canary", signal);

  const names = await readdir(folder);
  const [name = ""] = names;

  assert.equal(names.length, 1);
  assert.ok(!name.includes("east"));
  assert.ok(!(await readFile(join(folder, name))).includes("canary"));
  assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600);
  assert.equal((await stat(folder)).mode & 0o777, 0o700);
});

test("a file does not open with another key, under another name, or when a bit of it has changed", async () => {
  const folder = await newFolder();
  const store = fileCredentials({ folder, key });
  await store.write("a", "canary", signal);
  const [file = ""] = await readdir(folder);
  const bytes = await readFile(join(folder, file));
  const kinds: unknown[] = [];
  const look = async (with_ = store, reference = "a"): Promise<void> => {
    const read = await with_.read(reference, signal);
    kinds.push(read.ok ? read.value : read.error.kind);
  };

  await look(fileCredentials({ folder, key: new Uint8Array(32) }));
  for (let at = 0; at < bytes.length; at += 1) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    await writeFile(join(folder, file), damaged);
    await look();
  }
  await writeFile(join(folder, file), bytes.subarray(0, 10));
  await look();
  await writeFile(join(folder, file), bytes);
  await look();
  await store.write("b", "other", signal);
  const [other = ""] = (await readdir(folder)).filter((name) => name !== file);
  await rename(join(folder, file), join(folder, other));
  await look(store, "b");

  assert.deepEqual(kinds, [...Array.from({ length: bytes.length + 2 }, () => "invalid"), "canary", "invalid"]);
});

test("a key is made once and refused when others may read it", async () => {
  const path = join(await mkdtemp(join(root, "key-")), "key");
  const made = await readOrMakeKey(path);

  const again = await readOrMakeKey(path);
  await chmod(path, 0o644);

  assert.deepEqual(Buffer.from(again), Buffer.from(made));
  assert.equal(made.length, 32);
  await assert.rejects(readOrMakeKey(path), /may be read by others: chmod 600/);
});

test("what is no key is refused", async () => {
  const path = join(await mkdtemp(join(root, "key-")), "key");
  await writeFile(path, "short", { mode: 0o600 });

  await assert.rejects(readOrMakeKey(path), /not a key of 32 bytes/);
});
