import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { SSMClient } from "@aws-sdk/client-ssm";
import { startParameters } from "../../infra/local/parameters/parameters.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { ok } from "../../lib/base/result.ts";
import { ssmCredentials } from "../../lib/credentials/ssm.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { credentialStoreContract } from "./store-contract.ts";

const signal = new AbortController().signal;
const parameters = await startParameters({ clock: systemClock });
after(async () => await parameters.stop());
const clientOf = (endpoint: string): SSMClient =>
  new SSMClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
const client = clientOf(parameters.url);
after(() => client.destroy());

credentialStoreContract("SSM", () => ssmCredentials({ client, clock: systemClock }));

/** A Systems Manager that answers everything in the same way; `undefined`: not at all. */
async function startAnswering(body: Record<string, unknown> | undefined): Promise<string> {
  const server = createServer((_, response) => {
    if (body === undefined) return;
    response.writeHead(400, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
}

test("parameters that are read at the same time are read by one call, and a missing one is missing alone", async () => {
  const store = ssmCredentials({ client, clock: systemClock });
  await store.write("/together/a", "secret a", signal);
  await store.write("/together/b", "secret b", signal);
  const commands: string[] = [];
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        commands.push(commandName ?? "");
        return await next(args);
      },
    { step: "initialize", name: "count", override: true },
  );

  const [a, none, b] = await Promise.all(
    ["/together/a", "/together/none", "/together/b"].map(async (name) => await store.read(name, signal)),
  );
  client.middlewareStack.remove("count");

  assert.deepEqual([a, b], [ok("secret a"), ok("secret b")]);
  assert.equal(none?.ok === false && none.error.kind, "notFound");
  assert.match(none?.ok === false ? none.error.problem : "", /\/together\/none/);
  assert.deepEqual(commands, ["GetParametersCommand"]);
});

test("a call that is refused, as for one name of several it is, is made again for each", async () => {
  const store = ssmCredentials({ client, clock: systemClock });
  await store.write("/together/a", "secret a", signal);
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const denied = Object.assign(new Error("not for you"), { name: "AccessDeniedException" });
        const { Name } = args.input as { readonly Name?: string };
        if (commandName === "GetParametersCommand" || Name === "/other/b") throw denied;
        return await next(args);
      },
    { step: "initialize", name: "deny", override: true },
  );

  const [a, b] = await Promise.all([store.read("/together/a", signal), store.read("/other/b", signal)]);
  client.middlewareStack.remove("deny");

  assert.deepEqual(a, ok("secret a"));
  assert.equal(!b.ok && b.error.kind, "denied");
});

const refusals = [
  ["AccessDeniedException", "denied"],
  ["InvalidKeyId", "denied"],
  ["ThrottlingException", "throttled"],
  ["ValidationException", "invalid"],
  ["SomethingNew", "unavailable"],
] as const;
for (const [type, kind] of refusals) {
  test(`${type} is ${kind}, and the words of the answer are not repeated`, async () => {
    const endpoint = await startAnswering({ __type: type, message: "canary" });
    const store = ssmCredentials({ client: clientOf(endpoint), clock: systemClock });

    const answer = await store.write("/hawser/east", "canary", signal);

    assert.equal(!answer.ok && answer.error.kind, kind);
    assert.ok(!JSON.stringify(answer).includes("canary"));
  });
}

test("a Systems Manager that does not answer is a timeout", async () => {
  const clock = new FakeClock();
  const store = ssmCredentials({ client: clientOf(await startAnswering(undefined)), clock });

  const reading = store.read("/hawser/east", signal);
  await clock.advance(5_000);
  const answer = await reading;

  assert.equal(!answer.ok && answer.error.kind, "timeout");
});
