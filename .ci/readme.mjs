// Runs every command of the README that needs no AWS account, in its order, as a reader would: `npm start` goes on in the
// background while the commands after it look at it, and is ended with SIGINT when they are done.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const AWS_MARK = "<!-- needs an AWS account -->";

function commands(text) {
  const found = [];
  for (const match of text.matchAll(/^([ \t]*)```sh\n([\s\S]*?)^[ \t]*```$/gm)) {
    const before = text.slice(0, match.index).trimEnd();
    if (before.endsWith(AWS_MARK)) continue;
    found.push(
      ...match[2]
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== ""),
    );
  }
  return found;
}

function run(command) {
  console.log(`$ ${command}`);
  // The tests run in a step of their own; here it is enough that the command works.
  const actual = command === "npm test" ? "npm test -- test/base" : command;
  return spawnSync("bash", ["-c", actual], { stdio: ["ignore", "inherit", "inherit"], timeout: 600_000 }).status;
}

async function end(world) {
  const exited = new Promise((resolve) => world.on("exit", (code) => resolve(code)));
  process.kill(-world.pid, "SIGINT");
  return await Promise.race([exited, delay(10_000, "still running 10 s after Ctrl-C")]);
}

async function untilHealthy() {
  for (let i = 0; i < 60; i += 1) {
    if (spawnSync("npx", ["hawser", "status"], { stdio: "ignore" }).status === 0) return true;
    await delay(1_000);
  }
  return false;
}

let world;
const faults = [];
for (const command of commands(readFileSync("README.md", "utf8"))) {
  if (command === "npm start") {
    console.log("$ npm start &");
    world = spawn("npm", ["start"], { stdio: ["ignore", "inherit", "inherit"], detached: true });
    if (!(await untilHealthy())) faults.push("npm start: not healthy after a minute");
    continue;
  }
  // A second world in the same folder would be refused, as it should.
  if (command.startsWith("npm ") && world !== undefined) {
    const code = await end(world);
    if (code !== 0) faults.push(`npm start: ended with ${code} after Ctrl-C`);
    world = undefined;
  }
  const status = run(command);
  if (status !== 0) faults.push(`${command}: ended with ${status}`);
}
for (const fault of faults) console.error(fault);
process.exit(faults.length === 0 ? 0 : 1);
