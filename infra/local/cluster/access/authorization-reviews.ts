import { arrayIn, isJsonObject, type JsonObject, objectIn, textIn } from "../engine/json.ts";
import { badRequest, reply } from "../status.ts";
import type { ApiReply, ResourceRequest, UserInfo, VirtualResource } from "../types.ts";
import type { Authenticator } from "./authentication.ts";
import type { Authorizer } from "./authorization.ts";
import type { AccessAttributes, PolicyRule } from "./authorization-rules.ts";

const AUTHORIZATION = { group: "authorization.k8s.io", version: "v1" };
const AUTHENTICATION = { group: "authentication.k8s.io", version: "v1" };

/** The questions that a client can ask about itself and, with permission, about others. */
export function accessReviews(authorizer: Authorizer, authenticator: Authenticator): readonly VirtualResource[] {
  const decide = (user: UserInfo, spec: JsonObject): object => {
    const asked = attributesOf(spec);
    const { allowed, reason } = asked === undefined ? { allowed: false, reason: "" } : authorizer.decide(user, asked);
    return { allowed, ...(reason === "" ? {} : { reason }) };
  };
  return [
    review({ ...AUTHORIZATION, kind: "SelfSubjectAccessReview" }, (spec, request) => decide(request.user, spec)),
    review({ ...AUTHORIZATION, kind: "SubjectAccessReview" }, (spec) => decide(subjectOf(spec), spec)),
    review({ ...AUTHORIZATION, kind: "LocalSubjectAccessReview", namespaced: true }, (spec) =>
      decide(subjectOf(spec), spec),
    ),
    review({ ...AUTHORIZATION, kind: "SelfSubjectRulesReview" }, (spec, request) => {
      const { cluster, byNamespace, problems } = authorizer.rulesOf(request.user);
      const rules = [...cluster, ...(byNamespace.get(textIn(spec, "namespace")) ?? [])];
      return {
        resourceRules: rules.filter((r) => r.resources.size > 0).map(resourceRule),
        nonResourceRules: rules
          .filter((r) => r.nonResourceURLs.length > 0)
          .map((r) => ({ verbs: [...r.verbs], nonResourceURLs: r.nonResourceURLs })),
        incomplete: problems.length > 0,
        ...(problems.length === 0 ? {} : { evaluationError: problems.join(", ") }),
      };
    }),
    review({ ...AUTHENTICATION, kind: "SelfSubjectReview" }, (_spec, request) => ({ userInfo: request.user })),
    review({ ...AUTHENTICATION, kind: "TokenReview" }, (spec) => {
      const audiences = arrayIn(spec, "audiences").filter((a) => typeof a === "string");
      const user = authenticator.byToken(textIn(spec, "token"), audiences.length === 0 ? undefined : audiences);
      if (user === undefined) return { authenticated: false, user: {}, error: "[invalid bearer token]" };
      return { authenticated: true, user, ...(audiences.length === 0 ? {} : { audiences }) };
    }),
  ];
}

interface ReviewKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly namespaced?: boolean;
}

function review(
  { group, version, kind, namespaced = false }: ReviewKind,
  answer: (spec: JsonObject, request: ResourceRequest) => object,
): VirtualResource {
  const create = (request: ResourceRequest): Promise<ApiReply> => {
    const { body } = request;
    if (!isJsonObject(body)) return Promise.resolve(reply(badRequest(`the body must be a ${kind}`)));
    const spec = objectIn(body, "spec");
    const shown = { ...body, apiVersion: `${group}/${version}`, kind, metadata: objectIn(body, "metadata") };
    return Promise.resolve({ code: 201, body: { ...shown, status: answer(spec, request) } });
  };
  return { group, version, kind, resource: `${kind.toLowerCase()}s`, namespaced, create };
}

function attributesOf(spec: JsonObject): AccessAttributes | undefined {
  const resource = objectIn(spec, "resourceAttributes");
  const path = objectIn(spec, "nonResourceAttributes");
  if (isJsonObject(spec["nonResourceAttributes"])) {
    return { kind: "nonResource", verb: textIn(path, "verb"), path: textIn(path, "path") };
  }
  if (!isJsonObject(spec["resourceAttributes"])) return undefined;
  const optional = (field: string): string | undefined => textIn(resource, field) || undefined;
  return {
    kind: "resource",
    verb: textIn(resource, "verb"),
    group: textIn(resource, "group"),
    resource: textIn(resource, "resource"),
    subresource: optional("subresource"),
    namespace: optional("namespace"),
    name: optional("name"),
  };
}

function subjectOf(spec: JsonObject): UserInfo {
  return { username: textIn(spec, "user"), groups: arrayIn(spec, "groups").filter((g) => typeof g === "string") };
}

function resourceRule(rule: PolicyRule): object {
  return {
    verbs: [...rule.verbs],
    apiGroups: [...rule.apiGroups],
    resources: [...rule.resources],
    ...(rule.resourceNames.size === 0 ? {} : { resourceNames: [...rule.resourceNames] }),
  };
}
