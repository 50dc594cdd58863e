import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const SERVER = fileURLToPath(new URL("server.py", import.meta.url));

/** Any region but the default one, so that a default which slips in is seen. */
const REGION = "eu-central-1";

/** An emulated AWS account. */
export interface Moto {
  readonly url: string;
  /** What it has said so far of what it cannot do, and of its own faults. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * Starts moto with the Python that HAWSER_MOTO_PYTHON names, and points the AWS SDK of this process and of those that it
 * starts at it: whatever account, profile or endpoint the environment names is not used.
 */
export async function startMoto(): Promise<Moto> {
  const python = process.env["HAWSER_MOTO_PYTHON"];
  if (python === undefined) throw new Error("HAWSER_MOTO_PYTHON is not set: run `bash .ci/moto FOLDER`");
  // Moto leaves files where it works.
  const folder = await mkdtemp(join(tmpdir(), "hawser-test-moto-"));
  const child = spawn(python, [SERVER], { cwd: folder, stdio: ["pipe", "pipe", "pipe"] });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  const line = createInterface({ input: child.stdout });
  const url = await Promise.race([once(line, "line").then(([first]) => String(first)), once(child, "exit")]);
  if (typeof url !== "string") {
    await stop();
    throw new Error(`moto ended before it was ready: ${log}`);
  }
  useEndpoint(url);
  return { url, log: () => log, stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.stdin?.end();
  await exited;
}

function useEndpoint(url: string): void {
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: "moto",
    AWS_SECRET_ACCESS_KEY: "moto",
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
  });
}
