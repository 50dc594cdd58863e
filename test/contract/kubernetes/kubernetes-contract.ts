import { randomBytes } from "node:crypto";
import { after, before, describe } from "node:test";
import { admissionCases } from "./cases/admission.ts";
import { answerCases } from "./cases/answers.ts";
import { authenticationCases } from "./cases/authentication.ts";
import { authorizationCases } from "./cases/authorization.ts";
import { certificateRuleCases } from "./cases/certificate-rules.ts";
import { certificateCases } from "./cases/certificates.ts";
import { connectionCases } from "./cases/connections.ts";
import { customResourceCases } from "./cases/custom-resources.ts";
import { endpointMirrorCases } from "./cases/endpoint-mirrors.ts";
import { endpointsCases } from "./cases/endpoints.ts";
import { errorCases } from "./cases/errors.ts";
import { listOptionCases } from "./cases/list-options.ts";
import { listCases } from "./cases/lists.ts";
import { objectCases } from "./cases/objects.ts";
import { reviewCases } from "./cases/reviews.ts";
import { roleCases } from "./cases/roles.ts";
import { selectorCases } from "./cases/selectors.ts";
import { serverCases } from "./cases/server.ts";
import { serviceCases } from "./cases/services.ts";
import { tokenCases } from "./cases/tokens.ts";
import { watchOptionCases } from "./cases/watch-options.ts";
import { watchCases } from "./cases/watches.ts";
import { webhookFaultCases } from "./cases/webhook-faults.ts";
import { webhookRuleCases } from "./cases/webhook-rules.ts";
import { writeCases } from "./cases/writes.ts";
import { ContractClient } from "./contract-client.ts";
import type { Area, Cases, ContractCluster } from "./contract-cluster.ts";

/** The areas of the contract, each in a file of its own. */
const AREAS: Readonly<Record<string, Cases>> = {
  "errors are Status objects": errorCases,
  "updates, patches and deletes": writeCases,
  lists: listCases,
  "pages and resourceVersions of lists": listOptionCases,
  selectors: selectorCases,
  watches: watchCases,
  "options of watches": watchOptionCases,
  "connections and what they carry": connectionCases,
  certificates: certificateCases,
  "rules of certificates": certificateRuleCases,
  admission: admissionCases,
  "webhooks that fail": webhookFaultCases,
  "rules of webhooks": webhookRuleCases,
  "custom resources": customResourceCases,
  Services: serviceCases,
  "Endpoints and EndpointSlices": endpointsCases,
  "controllers of endpoints": endpointMirrorCases,
  "objects of the cluster": objectCases,
  authentication: authenticationCases,
  "ServiceAccounts and their tokens": tokenCases,
  authorization: authorizationCases,
  "rules of RBAC": roleCases,
  "reviews and impersonation": reviewCases,
  "the server itself": serverCases,
  "the form of answers": answerCases,
};

/**
 * What Hawser relies on in a Kubernetes API, over HTTPS.
 * @param start starts the API server, or says where it is
 */
export function kubernetesContract(name: string, start: () => Promise<ContractCluster>): void {
  describe(`Kubernetes API: ${name}`, () => {
    let cluster: ContractCluster | undefined;
    let admin: ContractClient | undefined;
    before(async () => {
      cluster = await start();
      admin = ContractClient.of(cluster.kubeconfig);
    });
    after(async () => {
      await admin?.close();
      await cluster?.stop();
    });
    for (const [title, cases] of Object.entries(AREAS)) {
      describe(title, () => {
        let area: Area | undefined;
        before(async () => {
          if (cluster === undefined || admin === undefined) throw new Error("the API server has not started");
          const token = randomBytes(4).toString("hex");
          const namespace = `contract-${token}`;
          await admin.must("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
          area = { cluster, admin, namespace, token };
        });
        after(async () => {
          if (area !== undefined) await area.admin.request("DELETE", `/api/v1/namespaces/${area.namespace}`);
        });
        cases(() => {
          if (area === undefined) throw new Error("a case asks for its area before it runs");
          return area;
        });
      });
    }
  });
}
