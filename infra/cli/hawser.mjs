#!/usr/bin/env node
// Starts the command on a Node that runs TypeScript: this one if it is new enough, else the one that `npm ci` installed.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));
const installed = fileURLToPath(new URL("../../node_modules/node/bin/node", import.meta.url));
const [major = 0] = process.versions.node.split(".").map(Number);

if (major >= 24) {
  await import(main);
} else if (existsSync(installed)) {
  const child = spawn(installed, [main, ...process.argv.slice(2)], { stdio: "inherit" });
  // The terminal sends its signals to both; only those sent to this process alone have to be passed on.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
} else {
  console.error(
    `hawser needs Node 24 or newer, this is ${process.version}.\n` +
      '"npm ci" installs one into node_modules, unless scripts are switched off; or install Node 24.',
  );
  process.exit(1);
}
