import { define } from "../engine/builtin/define.ts";
import { anything, struct, text, texts } from "../engine/builtin/description.ts";
import { arrayIn, isJsonObject, type JsonObject, objectIn, textIn } from "../engine/json.ts";
import type { Schema } from "../engine/schema/schema.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { badRequest, invalidObject, reply } from "../status.ts";
import type { ApiReply, UserInfo, VirtualResource } from "../types.ts";
import type { Authorizer } from "./authorization.ts";
import type { AccessAttributes, PolicyRule } from "./authorization-rules.ts";
import { type Answer, question } from "./question.ts";

const GROUP = "authorization.k8s.io";
const ATTRIBUTES = {
  resourceAttributes: struct({
    namespace: text,
    verb: text,
    group: text,
    version: text,
    resource: text,
    subresource: text,
    name: text,
    fieldSelector: anything,
    labelSelector: anything,
  }),
  nonResourceAttributes: struct({ path: text, verb: text }),
};
const SUBJECT = { user: text, groups: texts, extra: anything, uid: text };

/** The questions what somebody may do: asked by anybody about himself and, with permission, about others. */
export function accessReviews(authorizer: Authorizer): readonly VirtualResource[] {
  const own = struct(ATTRIBUTES);
  const others = struct({ ...ATTRIBUTES, ...SUBJECT });
  return [
    review("SelfSubjectAccessReview", own, (object, { user }) => {
      const spec = objectIn(object, "spec");
      return refusal(attributeErrors(spec)) ?? { ...object, status: decide(authorizer, user, spec) };
    }),
    review("SubjectAccessReview", others, (object) => {
      const spec = objectIn(object, "spec");
      const errors = [...attributeErrors(spec), ...subjectErrors(spec)];
      return refusal(errors) ?? { ...object, status: decide(authorizer, subjectOf(spec), spec) };
    }),
    localReview(authorizer, others),
    rulesReview(authorizer),
  ];
}

function localReview(authorizer: Authorizer, schema: Schema): VirtualResource {
  const answer: Answer = (object, { namespace = "" }) => {
    const spec = objectIn(object, "spec");
    const errors = [...attributeErrors(spec), ...subjectErrors(spec), ...localErrors(spec, namespace)];
    const metadata = { ...object.metadata, namespace };
    return refusal(errors) ?? { ...object, metadata, status: decide(authorizer, subjectOf(spec), spec) };
  };
  return review("LocalSubjectAccessReview", schema, answer, true);
}

function rulesReview(authorizer: Authorizer): VirtualResource {
  return review("SelfSubjectRulesReview", struct({ namespace: text }), (object, { user }) => {
    const namespace = textIn(objectIn(object, "spec"), "namespace");
    if (namespace === "") return { refused: reply(badRequest("no namespace on request")) };
    const { cluster, byNamespace, problems } = authorizer.rulesOf(user);
    const rules = [...cluster, ...(byNamespace.get(namespace) ?? [])];
    const missing = [...(problems.get("") ?? []), ...(problems.get(namespace) ?? [])];
    const status = {
      resourceRules: rules.filter((r) => r.resources.size > 0).map(resourceRule),
      nonResourceRules: rules
        .filter((r) => r.nonResourceURLs.length > 0)
        .map((r) => ({ verbs: [...r.verbs], nonResourceURLs: r.nonResourceURLs })),
      incomplete: false,
      ...(missing.length === 0 ? {} : { evaluationError: missing.join(", ") }),
    };
    return { ...object, spec: {}, status };
  });
}

function review(kind: string, spec: Schema, answer: Answer, namespaced = false): VirtualResource {
  const resource = `${kind.toLowerCase()}s`;
  return question(define({ group: GROUP, kind, resource, namespaced, schema: struct({ spec }) }), answer);
}

function refusal(errors: readonly FieldError[]): { readonly refused: ApiReply } | undefined {
  // Real servers do not name the kind here.
  return errors.length === 0 ? undefined : { refused: reply(invalidObject({ group: GROUP, kind: "" }, "", errors)) };
}

function attributeErrors(spec: JsonObject): readonly FieldError[] {
  const path = spec["nonResourceAttributes"];
  if (isJsonObject(path) !== isJsonObject(spec["resourceAttributes"])) return [];
  const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  const shown = isJsonObject(path) ? JSON.stringify(asGo(path)) : "null";
  return [{ type: "FieldValueInvalid", field: "spec", body: `Invalid value: ${shown}: ${why}` }];
}

function subjectErrors(spec: JsonObject): readonly FieldError[] {
  if (textIn(spec, "user") !== "" || arrayIn(spec, "groups").length > 0) return [];
  return [invalid("spec.user", "", "at least one of user or group must be specified")];
}

function localErrors(spec: JsonObject, namespace: string): readonly FieldError[] {
  const path = spec["nonResourceAttributes"];
  if (isJsonObject(path)) {
    return [invalid("spec.nonResourceAttributes", asGo(path), "disallowed on this kind of request")];
  }
  const asked = textIn(objectIn(spec, "resourceAttributes"), "namespace");
  if (asked === namespace) return [];
  return [invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace")];
}

/** The fields as the server's own type names them. */
function asGo(path: JsonObject): JsonObject {
  return { Path: textIn(path, "path"), Verb: textIn(path, "verb") };
}

function decide(authorizer: Authorizer, user: UserInfo, spec: JsonObject): object {
  const { allowed, reason } = authorizer.decide(user, attributesOf(spec));
  return { allowed, ...(reason === "" ? {} : { reason }) };
}

function attributesOf(spec: JsonObject): AccessAttributes {
  const path = spec["nonResourceAttributes"];
  if (isJsonObject(path)) return { kind: "nonResource", verb: textIn(path, "verb"), path: textIn(path, "path") };
  const resource = objectIn(spec, "resourceAttributes");
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
