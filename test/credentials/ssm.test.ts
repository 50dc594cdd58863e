import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { SSMClient } from "@aws-sdk/client-ssm";
import { startParameters } from "../../infra/local/parameters/parameters.ts";
import { systemClock } from "../../lib/base/clock.ts";
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
