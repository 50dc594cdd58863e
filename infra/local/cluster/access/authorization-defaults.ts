/** The roles and bindings that every cluster has from the start, as far as clients depend on them. */
export function defaultRbac(): readonly object[] {
  return ROLES.flatMap(({ name, rules, groups }) => [
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name, labels: LABELS, annotations: ANNOTATIONS },
      rules,
    },
    {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name, labels: LABELS, annotations: ANNOTATIONS },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
      subjects: groups.map((group) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: group })),
    },
  ]);
}

const LABELS = { "kubernetes.io/bootstrapping": "rbac-defaults" };
const ANNOTATIONS = { "rbac.authorization.kubernetes.io/autoupdate": "true" };
const INFO = ["/healthz", "/livez", "/readyz", "/version", "/version/"];

const ROLES = [
  {
    name: "cluster-admin",
    groups: ["system:masters"],
    rules: [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["*"] },
    ],
  },
  {
    name: "system:discovery",
    groups: ["system:authenticated"],
    rules: [
      {
        nonResourceURLs: ["/api", "/api/*", "/apis", "/apis/*", "/openapi", "/openapi/*", ...INFO],
        verbs: ["get"],
      },
    ],
  },
  {
    name: "system:public-info-viewer",
    groups: ["system:authenticated", "system:unauthenticated"],
    rules: [{ nonResourceURLs: INFO, verbs: ["get"] }],
  },
  {
    name: "system:basic-user",
    groups: ["system:authenticated"],
    rules: [
      {
        apiGroups: ["authorization.k8s.io"],
        resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        verbs: ["create"],
      },
      { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
    ],
  },
] as const;
