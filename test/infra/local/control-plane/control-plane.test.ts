import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { startControlPlane } from "../../../../infra/local/control-plane/control-plane.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { alive } from "../../../support/processes.ts";
import { until } from "../../../support/until.ts";

const HANG = fileURLToPath(new URL("start-and-hang.ts", import.meta.url));

describe("a control plane that does not come up", { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "hawser-no-control-plane-"));
  after(() => rmSync(folder, { recursive: true }));
  /** A folder with an etcd that is a shell script. */
  const assets = (name: string, etcd: string): string => {
    const place = join(folder, name);
    mkdirSync(place);
    writeFileSync(join(place, "etcd"), `#!/bin/sh\n${etcd}\n`, { mode: 0o755 });
    return place;
  };
  const start = (place: string, signal: AbortSignal) =>
    startControlPlane({ assets: place, clusters: ["north"], clock: systemClock, progress: () => undefined, signal });
  const pidIn = (file: string): number => {
    try {
      return Number(readFileSync(file, "utf8").trim());
    } catch {
      // Not written yet.
      return 0;
    }
  };

  it("says what its program said", async () => {
    const never = new AbortController().signal;

    await assert.rejects(
      start(assets("broken", "echo 'flag provided but not defined' >&2; exit 2"), never),
      /etcd ended before it was ready\. The end of .*etcd\.log:\nflag provided but not defined/,
    );
    await assert.rejects(start(join(folder, "nowhere"), never), /etcd: .*ENOENT/);
  });

  it("leaves no process when its start is ended", async () => {
    const file = join(folder, "ended.pid");
    const ended = new AbortController();
    const starting = start(assets("slow", `echo $$ >${file}; exec sleep 600`), ended.signal);
    await until(() => pidIn(file) > 0);

    ended.abort(new Error("enough"));

    await assert.rejects(starting, /enough/);
    assert.deepEqual(alive([pidIn(file)]), []);
  });

  it("leaves no process and no file when the process that starts it is killed", async () => {
    const file = join(folder, "killed.pid");
    const temporary = join(folder, "tmp");
    mkdirSync(temporary);
    const place = assets("hanging", `echo $$ >${file}; exec sleep 600`);
    const child = spawn(process.execPath, [HANG, place], { env: { TMPDIR: temporary }, stdio: "inherit" });
    await until(() => pidIn(file) > 0);
    assert.equal(readdirSync(temporary).length, 1);

    child.kill("SIGKILL");

    await once(child, "exit");
    await until(() => alive([pidIn(file)]).length === 0 && readdirSync(temporary).length === 0);
  });
});
