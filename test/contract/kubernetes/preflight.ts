import { ContractClient } from "./contract-client.ts";
import { UnusableKubeconfig } from "./plain-kubeconfig.ts";

const REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/**
 * One question before two hundred: is the server there, does it know who asks, and may he do everything?
 * @throws UnusableKubeconfig
 */
export async function assertAdministrator(kubeconfig: string): Promise<void> {
  const client = ContractClient.of(kubeconfig);
  const server = client.server.href;
  try {
    const resourceAttributes = { verb: "*", group: "*", resource: "*" };
    const answer = await client
      .request("POST", REVIEW, {
        body: {
          apiVersion: "authorization.k8s.io/v1",
          kind: "SelfSubjectAccessReview",
          spec: { resourceAttributes },
        },
      })
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        throw new UnusableKubeconfig(
          `${server} cannot be asked: ${why}. Is the API server up, and its CA the right one?`,
        );
      });
    if (answer.code === 401) {
      throw new UnusableKubeconfig(
        `${server} does not know the credential (401): take a kubeconfig that is still good`,
      );
    }
    if (answer.code !== 201) {
      throw new UnusableKubeconfig(`${server} answers ${answer.code}: is it a Kubernetes API server?`);
    }
    const { allowed } = answer.json["status"] as { allowed: boolean };
    if (!allowed) {
      throw new UnusableKubeconfig(
        `${server} does not let this user do everything: take an administrator's kubeconfig`,
      );
    }
  } finally {
    await client.close();
  }
}
