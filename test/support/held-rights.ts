import { readFileSync } from "node:fs";
import { parseAllDocuments } from "yaml";
import { ApiClient } from "../../infra/local/api-client/api-client.ts";

/** One single right: `verb group/resource`, with the name that it is limited to. */
export type Right = string;

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** What Kubernetes gives to all that are known (questions about themselves), and to all ServiceAccounts (trust bundles). */
const EVERYBODYS =
  /^(create (authorization|authentication)\.k8s\.io\/selfsubject|.* certificates\.k8s\.io\/clustertrustbundles$)/;

/** The rights on resources that the server says the identity of a kubeconfig has in a Namespace. */
export async function heldRights(kubeconfig: string, namespace: string): Promise<readonly Right[]> {
  const client = new ApiClient(kubeconfig);
  try {
    const { code, body } = await client.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectRulesReview",
      spec: { namespace },
    });
    if (code !== 201) throw new Error(`the server does not say what rights there are: ${code} ${body.message ?? ""}`);
    const { resourceRules } = body["status"] as { resourceRules: readonly Rule[] };
    return rightsOf(resourceRules).filter((right) => !EVERYBODYS.test(right));
  } finally {
    await client.close();
  }
}

/** The rights that the Role or ClusterRole of a manifest gives. */
export function rightsIn(
  file: string | URL,
  role: string,
  names: Readonly<Record<string, string>> = {},
): readonly Right[] {
  const documents = parseAllDocuments(readFileSync(file, "utf8")).map(
    (document) => document.toJS() as { metadata: { name: string }; rules?: readonly Rule[] },
  );
  const found = documents.find(({ metadata, rules }) => metadata.name === role && rules !== undefined);
  if (found?.rules === undefined) throw new Error(`${String(file)} has no role ${role}`);
  return rightsOf(found.rules).map((right) =>
    Object.entries(names).reduce((text, [from, to]) => text.replace(` ${from}`, ` ${to}`), right),
  );
}

function rightsOf(rules: readonly Rule[]): readonly Right[] {
  const rights = rules.flatMap(({ verbs, apiGroups = [], resources = [], resourceNames = [] }) =>
    verbs.flatMap((verb) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.length === 0
            ? [`${verb} ${group}/${resource}`]
            : resourceNames.map((name) => `${verb} ${group}/${resource} ${name}`),
        ),
      ),
    ),
  );
  return [...new Set(rights)].toSorted();
}
