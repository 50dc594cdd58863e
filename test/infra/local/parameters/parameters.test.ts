import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import {
  DeleteParameterCommand,
  GetParameterCommand,
  GetParametersByPathCommand,
  GetParametersCommand,
  ParameterAlreadyExists,
  ParameterNotFound,
  ParameterVersionNotFound,
  PutParameterCommand,
  type PutParameterCommandInput,
  SSMClient,
} from "@aws-sdk/client-ssm";
import { startParameters } from "../../../../infra/local/parameters/parameters.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const SECRET = "canary-1f9d secret";
const clock = new FakeClock();

async function bench(t: TestContext, file?: { path: string; keyPath: string }) {
  const parameters = await startParameters({ clock, ...(file === undefined ? {} : { file }) });
  const client = new SSMClient({
    endpoint: parameters.url,
    region: "us-east-1",
    credentials: { accessKeyId: "k", secretAccessKey: "s" },
    maxAttempts: 1,
  });
  const stop = async (): Promise<void> => {
    client.destroy();
    await parameters.stop();
  };
  t.after(stop);
  const put = async (name: string, value: string, more: Partial<PutParameterCommandInput> = {}) =>
    await client.send(new PutParameterCommand({ Name: name, Value: value, Type: "SecureString", ...more }));
  const get = async (name: string, decrypt = true) =>
    (await client.send(new GetParameterCommand({ Name: name, WithDecryption: decrypt }))).Parameter;
  return { client, put, get, stop };
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "hawser-parameters-"));
  t.after(async () => rm(path, { recursive: true, force: true }));
  return path;
}

describe("Parameter Store", () => {
  it("returns what was put, and a SecureString in the clear only when asked", async (t) => {
    const { put, get } = await bench(t);

    const made = await put("/hawser/east/token", SECRET);

    assert.equal(made.Version, 1);
    const clear = await get("/hawser/east/token");
    assert.equal(clear?.Value, SECRET);
    assert.equal(clear?.Type, "SecureString");
    assert.equal(clear?.ARN, "arn:aws:ssm:us-east-1:000000000000:parameter/hawser/east/token");
    assert.deepEqual(clear?.LastModifiedDate, clock.now());
    const hidden = (await get("/hawser/east/token", false))?.Value ?? "";
    assert.ok(hidden !== "" && !hidden.includes("canary") && !Buffer.from(hidden, "base64").includes("canary"));
  });

  it("does not overwrite unless asked, and counts versions", async (t) => {
    const { put, get } = await bench(t);
    await put("/a", "one");

    await assert.rejects(put("/a", "two"), ParameterAlreadyExists);
    assert.equal((await put("/a", "two", { Overwrite: true, Type: undefined })).Version, 2);

    assert.equal((await get("/a"))?.Value, "two");
    assert.equal((await get("/a:1"))?.Value, "one");
    assert.equal((await get("/a:1"))?.Selector, ":1");
    await assert.rejects(get("/a:3"), ParameterVersionNotFound);
  });

  it("is found by its ARN", async (t) => {
    const { put, get } = await bench(t);
    await put("/a/b", "x");

    assert.equal((await get("arn:aws:ssm:us-east-1:000000000000:parameter/a/b"))?.Value, "x");
  });

  it("knows what does not exist", async (t) => {
    const { client, put, get } = await bench(t);
    await put("/a", "x");

    await client.send(new DeleteParameterCommand({ Name: "/a" }));

    await assert.rejects(get("/a"), ParameterNotFound);
    await assert.rejects(client.send(new DeleteParameterCommand({ Name: "/a" })), ParameterNotFound);
    const many = await client.send(new GetParametersCommand({ Names: ["/a", "/b"] }));
    assert.deepEqual([many.Parameters, many.InvalidParameters], [[], ["/a", "/b"]]);
  });

  it("lists a path, with or without what lies deeper, page by page", async (t) => {
    const { client, put } = await bench(t);
    for (const name of ["/h/1", "/h/2", "/h/3", "/h/deep/4", "/other"]) await put(name, "v");
    const list = async (more: object) => {
      const got = await client.send(new GetParametersByPathCommand({ Path: "/h", WithDecryption: true, ...more }));
      return [got.Parameters?.map((p) => p.Name).join(), got.NextToken] as const;
    };

    assert.deepEqual(await list({}), ["/h/1,/h/2,/h/3", undefined]);
    const [first, NextToken] = await list({ Recursive: true, MaxResults: 3 });
    assert.equal(first, "/h/1,/h/2,/h/3");
    assert.deepEqual(await list({ Recursive: true, MaxResults: 3, NextToken }), ["/h/deep/4", undefined]);
  });

  it("refuses wrong names, missing types and values over the limit of their tier", async (t) => {
    const { put } = await bench(t);

    await assert.rejects(put("/a b", "x"), { name: "ValidationException" });
    await assert.rejects(put("a/b", "x"), { name: "ValidationException" });
    await assert.rejects(put("/aws/x", "x"), { name: "AccessDeniedException" });
    await assert.rejects(put("/a", "x", { Type: undefined }), { name: "ValidationException" });
    await assert.rejects(put("/a", "x".repeat(4097)), { name: "ValidationException" });
    assert.equal((await put("/a", "x".repeat(4097), { Tier: "Intelligent-Tiering" })).Tier, "Advanced");
    await assert.rejects(put("/b", "x".repeat(8193), { Tier: "Advanced" }), { name: "ValidationException" });
  });
});

describe("Parameter Store with a file", () => {
  it("keeps parameters over a restart, unreadable without the key", async (t) => {
    const dir = await folder(t);
    const file = { path: join(dir, "parameters.bin"), keyPath: join(dir, "keys", "parameters.key") };
    const first = await bench(t, file);
    await first.put("/a", SECRET);
    await first.put("/a", `${SECRET} 2`, { Overwrite: true });
    await first.stop();

    const second = await bench(t, file);

    assert.equal((await second.get("/a"))?.Value, `${SECRET} 2`);
    assert.equal((await second.get("/a:1"))?.Value, SECRET);
    assert.ok(!(await readFile(file.path)).includes("canary"));
    assert.equal((await stat(file.path)).mode & 0o777, 0o600);
    assert.equal((await stat(file.keyPath)).mode & 0o777, 0o600);
  });

  it("refuses a key that others can read, another key, and a file that was changed", async (t) => {
    const dir = await folder(t);
    const file = { path: join(dir, "parameters.bin"), keyPath: join(dir, "parameters.key") };
    const first = await bench(t, file);
    await first.put("/a", SECRET);
    await first.stop();

    await chmod(file.keyPath, 0o644);
    await assert.rejects(startParameters({ clock, file }), /chmod 600/);
    await chmod(file.keyPath, 0o600);
    const bytes = await readFile(file.path);
    bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
    await writeFile(file.path, bytes);
    await assert.rejects(startParameters({ clock, file }), /cannot be decrypted/);
    await rm(file.keyPath);
    await assert.rejects(startParameters({ clock, file }), /cannot be decrypted/);
  });

  it("saves many changes at once without losing one", async (t) => {
    const dir = await folder(t);
    const file = { path: join(dir, "parameters.bin"), keyPath: join(dir, "parameters.key") };
    const first = await bench(t, file);

    await Promise.all(Array.from({ length: 20 }, async (_, i) => first.put(`/p/${i}`, String(i))));
    await first.stop();

    const second = await bench(t, file);
    for (const i of [0, 7, 19]) assert.equal((await second.get(`/p/${i}`))?.Value, String(i));
  });
});
