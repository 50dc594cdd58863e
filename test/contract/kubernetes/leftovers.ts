import { SIGNING_REQUESTS } from "./certificate-request.ts";
import { ContractClient } from "./contract-client.ts";
import { DEFINITIONS } from "./custom-definition.ts";

const PLACES = [
  "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
  "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
  DEFINITIONS,
  "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
  "/apis/rbac.authorization.k8s.io/v1/clusterroles",
  SIGNING_REQUESTS,
  "/api/v1/namespaces",
];
/** `contract-<8 digits>...`, and definitions in groups of that name. */
const OURS = /(^|\.)contract-[0-9a-f]{8}(-|\.|$)/;

/** Deletes what runs that were cut off have left in a cluster; answers the paths. Runs that go on lose theirs, too. */
export async function deleteLeftovers(kubeconfig: string): Promise<readonly string[]> {
  const client = ContractClient.of(kubeconfig);
  try {
    const deleted: string[] = [];
    for (const place of PLACES) {
      const { items = [] } = await client.must("GET", place);
      for (const name of items.map(({ metadata }) => metadata.name).filter((found) => OURS.test(found))) {
        const { code } = await client.request("DELETE", `${place}/${name}`);
        if (code === 200) deleted.push(`${place}/${name}`);
      }
    }
    return deleted;
  } finally {
    await client.close();
  }
}
