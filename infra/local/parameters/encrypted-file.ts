import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

const IV_BYTES = 12;
const TAG_BYTES = 16;
const KEY_BYTES = 32;

/**
 * One text in a file, encrypted with AES-256-GCM. The key is in a file of its own that only its owner may read; it is made
 * when there is none.
 */
export class EncryptedFile {
  readonly #path: string;
  readonly #key: Buffer;
  #saving: Promise<void> = Promise.resolve();

  private constructor(path: string, key: Buffer) {
    this.#path = path;
    this.#key = key;
  }

  /**
   * Opens the pair of files.
   * @throws when the key file is readable by others or is no key
   */
  static async open(path: string, keyPath: string): Promise<EncryptedFile> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await mkdir(dirname(keyPath), { recursive: true, mode: 0o700 });
    return new EncryptedFile(path, await keyFrom(keyPath));
  }

  /**
   * The text last saved; undefined when there is no file.
   * @throws when the file does not belong to the key or was changed
   */
  async load(): Promise<string | undefined> {
    const bytes = await readIfThere(this.#path);
    if (bytes === undefined) return undefined;
    const decipher = createDecipheriv("aes-256-gcm", this.#key, bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    });
    try {
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString("utf8");
    } catch (error) {
      const remedy = "restore the pair, or delete both files to begin anew";
      throw new Error(`${this.#path} cannot be decrypted with its key file: ${remedy}`, { cause: error });
    }
  }

  /** Replaces the text; one save after the other, each of them whole or not at all. */
  async save(text: string): Promise<void> {
    const before = this.#saving;
    const saving = (async () => {
      await before.catch(() => {});
      await this.#write(text);
    })();
    this.#saving = saving;
    await saving;
  }

  /** Settles when no save is under way any more. */
  async settled(): Promise<void> {
    await this.#saving.catch(() => {});
  }

  async #write(text: string): Promise<void> {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv, { authTagLength: TAG_BYTES });
    const data = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
    const draft = `${this.#path}.new`;
    await writeFile(draft, Buffer.concat([iv, cipher.getAuthTag(), data]), { mode: 0o600 });
    await rename(draft, this.#path);
  }
}

async function keyFrom(path: string): Promise<Buffer> {
  const key = await readIfThere(path);
  if (key === undefined) {
    const made = randomBytes(KEY_BYTES);
    await writeFile(path, made, { mode: 0o600, flag: "wx" });
    return made;
  }
  if (key.length !== KEY_BYTES) throw new Error(`${path} is not a key of ${KEY_BYTES} bytes`);
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) throw new Error(`${path} can be read by others: run chmod 600 ${path}`);
  return key;
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
