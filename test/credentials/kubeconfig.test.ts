import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { failed, ok } from "../../lib/base/result.ts";
import { KubeconfigReader, type KubeconfigReaderOptions } from "../../lib/credentials/kubeconfig.ts";
import { FakeClock } from "../support/fake-clock.ts";

const folder = await mkdtemp(join(tmpdir(), "hawser-kubeconfig-"));
after(async () => await rm(folder, { recursive: true }));
const signal = new AbortController().signal;

/** A reader over parameters in memory, and what was asked of them. */
function reader(options: Partial<KubeconfigReaderOptions> = {}) {
  const clock = new FakeClock();
  const values = new Map<string, string>([
    ["/a", "text of a"],
    ["/b", "text of b"],
    ["/c", "text of c"],
  ]);
  const asked: string[] = [];
  const parameters: KubeconfigReaderOptions["parameters"] = {
    read: async (name) => {
      asked.push(name);
      const value = values.get(name);
      return value === undefined ? failed({ kind: "notFound", problem: "none", remedy: "" }) : ok(value);
    },
  };
  return { clock, values, asked, reader: new KubeconfigReader({ clock, parameters, fileAccess: true, ...options }) };
}

test("a parameter is read once in five minutes, and a changed one is noticed then", async () => {
  const { clock, values, asked, reader: kubeconfigs } = reader();
  const read = async () => await kubeconfigs.readKubeconfig({ ssm: "/a" }, signal);

  const first = await read();
  values.set("/a", "changed");
  await clock.advance(299_999);
  const kept = await read();
  await clock.advance(1);
  const changed = await read();

  assert.deepEqual([first, kept, changed], [ok("text of a"), ok("text of a"), ok("changed")]);
  assert.equal(asked.length, 2);
});

test("a failure is not kept", async () => {
  const { values, reader: kubeconfigs } = reader();

  const missing = await kubeconfigs.readKubeconfig({ ssm: "/new" }, signal);
  values.set("/new", "there");
  const there = await kubeconfigs.readKubeconfig({ ssm: "/new" }, signal);

  assert.deepEqual([missing.ok, there], [false, ok("there")]);
});

test("no more texts are kept than allowed, and a forgotten one is read again", async () => {
  const { asked, reader: kubeconfigs } = reader({ keptCount: 2 });
  for (const ssm of ["/a", "/b", "/c", "/c", "/b", "/a"]) await kubeconfigs.readKubeconfig({ ssm }, signal);
  kubeconfigs.forget({ ssm: "/a" });
  await kubeconfigs.readKubeconfig({ ssm: "/a" }, signal);

  assert.deepEqual(asked, ["/a", "/b", "/c", "/a", "/a"]);
});

test("a file is read where files may be named, and refused elsewhere", async () => {
  const file = join(folder, "east");
  await writeFile(file, "kind: Config\n");

  const here = await reader().reader.readKubeconfig({ file }, signal);
  const deployed = await reader({ fileAccess: false }).reader.readKubeconfig({ file }, signal);

  assert.deepEqual(here, ok("kind: Config\n"));
  assert.equal(!deployed.ok && deployed.error.kind, "invalid");
});

test("a file that is missing, empty, too large or a folder is named with what to do", async () => {
  const empty = join(folder, "empty");
  const large = join(folder, "large");
  await writeFile(empty, "\n");
  await writeFile(large, Buffer.alloc(1024 * 1024 + 1));
  const kinds: unknown[] = [];

  for (const file of [join(folder, "none"), empty, large, folder]) {
    const read = await reader().reader.readKubeconfig({ file }, signal);
    assert.ok(!read.ok && read.error.problem.includes(file) && read.error.remedy !== "");
    kinds.push(read.error.kind);
  }

  assert.deepEqual(kinds, ["notFound", "invalid", "invalid", "invalid"]);
});
