import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { stringify } from "yaml";
import { failed, ok, type Result } from "../../lib/base/result.ts";
import type { CredentialError } from "../../lib/credentials/errors.ts";
import { KubeconfigReader } from "../../lib/credentials/kubeconfig.ts";
import { causeOf } from "../../lib/kube/cause.ts";
import { createClusterConnector } from "../../lib/runtime/wiring-clusters.ts";
import { ANNOUNCE, announce, CALL, connectionsFor, serverFor, status } from "../kube/client-fixture.ts";
import { FakeClock } from "../support/fake-clock.ts";

const never = new AbortController().signal;
const EAST = { cluster: "east", access: { kubeconfig: { ssm: "/clusters/east" } } };

/** A connector over one parameter, and how often it was read. */
function given(t: TestContext, parameter: () => Result<string, CredentialError>) {
  let reads = 0;
  const parameters = {
    read: async () => {
      reads += 1;
      return parameter();
    },
  };
  const kubeconfigs = new KubeconfigReader({ clock: new FakeClock(), parameters, fileAccess: false });
  const connector = createClusterConnector({ connections: connectionsFor(t), kubeconfigs, fileAccess: false });
  return { connector, reads: () => reads };
}

test("says what kept the credential from being read, not that the cluster is unreachable", async (t) => {
  const causes: unknown[] = [];
  for (const kind of ["throttled", "timeout", "unavailable"] as const) {
    const { connector } = given(t, () => failed({ kind, problem: "SSM parameter /clusters/east", remedy: "wait" }));

    const connected = await connector.connectMember(EAST, never);

    assert.ok(!connected.ok && "kind" in connected.error);
    assert.match(connected.error.message, /connect to east: SSM parameter \/clusters\/east; wait/);
    causes.push(causeOf(connected.error));
  }
  assert.deepEqual(causes, ["Throttled", "TimedOut", "ServerError"]);
});

test("reads a kubeconfig again once it does not get through by it, and not before", async (t) => {
  const server = await serverFor(t, (request, reply) =>
    request.headers["authorization"] === "Bearer new"
      ? reply.send(200, announce())
      : reply.send(401, status(401, "Unauthorized", "Unauthorized")),
  );
  let token = "old";
  const { connector, reads } = given(t, () =>
    ok(
      stringify({
        clusters: [{ name: "c", cluster: { server: server.url, "certificate-authority-data": base64(server.ca) } }],
        users: [{ name: "u", user: { token } }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
        "current-context": "x",
      }),
    ),
  );
  const get = async (): Promise<boolean> => {
    const member = await connector.connectMember(EAST, never);
    assert.ok(member.ok);
    const answer = await member.value.get(ANNOUNCE, CALL);
    await member.value.close();
    return answer.ok;
  };

  const refused = await get();
  token = "new";
  const accepted = [await get(), await get(), await get()];

  assert.deepEqual([refused, ...accepted], [false, true, true, true]);
  assert.equal(reads(), 2);
});

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
