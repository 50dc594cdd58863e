import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

const ROOT = resolve(import.meta.dirname, "../..");

/** How an `osls` process ended and what it said. */
export interface OslsRun {
  readonly code: number;
  readonly output: string;
}

/**
 * Runs the packaging tool in the project's folder, without telemetry and without questions.
 * @param show true: its output goes to the terminal as well
 */
export async function runOsls(args: readonly string[], show: boolean, signal?: AbortSignal): Promise<OslsRun> {
  const child = spawn(process.execPath, [resolve(ROOT, "node_modules/osls/bin/serverless.js"), ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    env: {
      ...process.env,
      SLS_TELEMETRY_DISABLED: "1",
      SLS_NOTIFICATIONS_MODE: "off",
      SLS_INTERACTIVE_SETUP_ENABLE: "",
      CI: "1",
    },
  });
  let output = "";
  for (const [from, to] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const) {
    from.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      if (show) to.write(chunk);
    });
  }
  const [code] = (await once(child, "close")) as [number | null];
  return { code: code ?? 1, output };
}
