import { ApiClient } from "../api-client/api-client.ts";
import { kubeconfigYaml } from "../cluster/kubeconfig.ts";
import { CONTROLLER_SERVICE_ACCOUNT, paths } from "../leader/resources.ts";
import type { Manifest } from "./manifests.ts";
import { leaderRoles } from "./onboarding.ts";

/** Longer than any local world runs, in seconds. */
const TOKEN_SECONDS = 30 * 86_400;

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/**
 * Gives the simulated leader its own identity on an API server that has none: the leader's rules let its ServiceAccount
 * do what they let no administrator do. What is there already stays as it is.
 * @param kubeconfig an administrator's
 * @returns the ServiceAccount's kubeconfig
 * @throws when the administrator may not do that
 */
export async function controllerKubeconfig(
  kubeconfig: string,
  context: string | undefined,
  namespace: string,
): Promise<string> {
  const client = new ApiClient(kubeconfig, context);
  try {
    for (const object of leaderRoles(namespace)) {
      await create(client, collectionOf(object), object, [201, 409]);
    }
    const account = `${paths.serviceAccounts(namespace)}/${CONTROLLER_SERVICE_ACCOUNT}`;
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest" };
    const spec = { expirationSeconds: TOKEN_SECONDS };
    const answer = await create(client, `${account}/token`, { ...request, spec }, [201]);
    const { token = "" } = (answer["status"] ?? {}) as { token?: string };
    return kubeconfigYaml({
      cluster: "leader",
      server: client.server,
      caPem: client.ca,
      user: CONTROLLER_SERVICE_ACCOUNT,
      credential: { token },
    });
  } finally {
    await client.close();
  }
}

async function create(
  client: ApiClient,
  path: string,
  object: object,
  expected: readonly number[],
): Promise<Record<string, unknown>> {
  const { code, body } = await client.request("POST", path, object);
  if (!expected.includes(code)) throw new Error(`create ${path}: ${code} ${body.message ?? ""}`);
  return body;
}

function collectionOf({ kind = "", metadata }: Manifest): string {
  const place = metadata?.namespace === undefined ? "" : `/namespaces/${metadata.namespace}`;
  return `${kind === "ServiceAccount" ? "/api/v1" : RBAC}${place}/${kind.toLowerCase()}s`;
}
