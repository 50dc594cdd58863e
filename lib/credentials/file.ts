import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { failed, ok, type Result } from "../base/result.ts";
import type { CredentialError } from "./errors.ts";
import type { CredentialStore } from "./store.ts";

const CIPHER = "aes-256-gcm";
/** Tells the form of the files: what follows are nonce, authentication tag and ciphertext. */
const FORM = Buffer.from("HWS1");
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Secrets as encrypted files of one folder, for one's own machine: AES-256-GCM, a file for each reference, replaced
 * atomically, readable by the owner alone. A file works under its own reference only.
 * @param key 32 bytes; see {@link readOrMakeKey}
 */
export function fileCredentials(parts: { readonly folder: string; readonly key: Uint8Array }): CredentialStore {
  const { folder, key } = parts;
  const fileOf = (reference: string): string =>
    join(folder, `${createHash("sha256").update(reference).digest("hex")}.secret`);
  return {
    read: async (reference, signal) =>
      await tried(
        reference,
        async () => decrypt(key, reference, await readFile(fileOf(reference), { signal })),
        signal,
      ),
    write: async (reference, secret, signal) =>
      await tried(
        reference,
        async () => {
          signal.throwIfAborted();
          await mkdir(folder, { recursive: true, mode: 0o700 });
          await replaceFile(fileOf(reference), encrypt(key, reference, secret));
          return ok(undefined);
        },
        signal,
      ),
    delete: async (reference, signal) =>
      await tried(
        reference,
        async () => {
          await rm(fileOf(reference), { force: true });
          return ok(undefined);
        },
        signal,
      ),
  };
}

/** The key in a file of its own, made when there is none. @throws when the file is not a key or others may read it */
export async function readOrMakeKey(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      const key = randomBytes(32);
      await file.writeFile(key);
      await file.sync();
      return key;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  const file = await open(path, "r");
  try {
    const { mode } = await file.stat();
    if (process.platform !== "win32" && (mode & 0o077) !== 0)
      throw new Error(`${path} may be read by others: chmod 600 ${path}`);
    const key = await file.readFile();
    if (key.length !== 32) throw new Error(`${path} is not a key of 32 bytes: delete it, and the secrets with it`);
    return key;
  } finally {
    await file.close();
  }
}

function encrypt(key: Uint8Array, reference: string, secret: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(reference));
  const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
  return Buffer.concat([FORM, nonce, cipher.getAuthTag(), text]);
}

function decrypt(key: Uint8Array, reference: string, bytes: Buffer): Result<string, CredentialError> {
  const unusable = failed<CredentialError>({
    kind: "invalid",
    problem: `the secret ${reference} cannot be decrypted: its file was damaged or belongs to another key or name`,
    remedy: "write the secret again",
  });
  const start = FORM.length + NONCE_BYTES;
  if (bytes.length < start + TAG_BYTES || !bytes.subarray(0, FORM.length).equals(FORM)) return unusable;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(FORM.length, start), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(reference)).setAuthTag(bytes.subarray(start, start + TAG_BYTES));
  try {
    return ok(Buffer.concat([decipher.update(bytes.subarray(start + TAG_BYTES)), decipher.final()]).toString("utf8"));
  } catch {
    // The only thing that final() says is that the tag does not fit.
    return unusable;
  }
}

/** A reader sees the old file or the new one, never a part, also after a crash. */
async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const next = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(next, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, path);
  } catch (error) {
    await rm(next, { force: true });
    throw error;
  }
}

async function tried<T>(
  reference: string,
  work: () => Promise<Result<T, CredentialError>>,
  signal: AbortSignal,
): Promise<Result<T, CredentialError>> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) {
      return failed({
        kind: "timeout",
        problem: `the secret ${reference}: ended by its caller`,
        remedy: "it is tried again",
      });
    }
    return failed(fileProblem(`the secret ${reference}`, codeOf(error)));
  }
}

/** What the error code of a file operation means for a secret. */
export function fileProblem(what: string, code: string): CredentialError {
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return { kind: "notFound", problem: `${what} does not exist`, remedy: "create it, or correct its name" };
    case "EACCES":
    case "EPERM":
      return {
        kind: "denied",
        problem: `${what} may not be read or written (${code})`,
        remedy: "grant access to the file",
      };
    case "EISDIR":
      return { kind: "invalid", problem: `${what} is a folder`, remedy: "name the file in it" };
    default:
      return {
        kind: "unavailable",
        problem: `${what} cannot be read or written (${code})`,
        remedy: "look at the disk",
      };
  }
}

/** The code of a system error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown error";
}
