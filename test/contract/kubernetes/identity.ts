import type { TestContext } from "node:test";
import { eventually } from "../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { clientOf, SIGNING_REQUESTS } from "./certificate-request.ts";
import type { ContractClient } from "./contract-client.ts";
import type { Area } from "./contract-cluster.ts";

/** A ServiceAccount of the cases' own, and who it is to the server. */
export interface Account {
  readonly name: string;
  readonly username: string;
  readonly token: string;
  /** Asks as the account; closed with the test. */
  readonly client: ContractClient;
}

/** Makes a ServiceAccount and asks for a token of it. */
export async function accountOf(t: TestContext, { admin, namespace }: Area, name: string): Promise<Account> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await admin.must("POST", path, { metadata: { name } });
  const { status } = await admin.must("POST", `${path}/${name}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {},
  });
  const { token } = status as { token: string };
  const client = admin.as({ token });
  t.after(() => client.close());
  return { name, username: `system:serviceaccount:${namespace}:${name}`, token, client };
}

/** A user with a client certificate that the cluster itself has signed; closed with the test. */
export async function userOf(t: TestContext, { admin, token }: Area, name: string, groups: readonly string[] = []) {
  const username = `contract-${token}-${name}`;
  t.after(() => admin.request("DELETE", `${SIGNING_REQUESTS}/${username}`));
  const client = await clientOf(admin, username, groups);
  t.after(() => client.close());
  return { username, client };
}

/** Rules of RBAC, given to a subject in the cases' Namespace. */
export async function grant(
  { admin, namespace }: Area,
  name: string,
  subject: { readonly account: string } | { readonly user: string } | { readonly group: string },
  rules: readonly object[],
): Promise<void> {
  const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  await admin.must("POST", `${path}/roles`, { metadata: { name }, rules });
  const apiGroup = "rbac.authorization.k8s.io";
  const subjects =
    "account" in subject
      ? [{ kind: "ServiceAccount", name: subject.account, namespace }]
      : "user" in subject
        ? [{ kind: "User", name: subject.user, apiGroup }]
        : [{ kind: "Group", name: subject.group, apiGroup }];
  const roleRef = { kind: "Role", name, apiGroup };
  await admin.must("POST", `${path}/rolebindings`, { metadata: { name }, roleRef, subjects });
}

/** Waits until a path is not forbidden: rules are in force a moment after they are written. */
export async function untilAllowed(client: ContractClient, path: string): Promise<void> {
  await eventually(systemClock, `${path} to be allowed`, async () => {
    const { code } = await client.request("GET", path);
    return code === 403 ? undefined : true;
  });
}
