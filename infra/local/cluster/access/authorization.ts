import { forbidden } from "../status.ts";
import type { ApiStatus, UserInfo } from "../types.ts";
import { type PolicyReader, RbacPolicy, type UserRules } from "./authorization-policy.ts";
import { type AccessAttributes, ruleAllows } from "./authorization-rules.ts";

/** Authorisation's word, with Kubernetes' reason where it has one. */
export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

/** RBAC from Role, ClusterRole and their bindings; the group `system:masters` may do everything. */
export class Authorizer {
  readonly #policy: RbacPolicy;

  /** @param engine looked up late, since the engine is built with parts that need this */
  constructor(engine: () => PolicyReader) {
    this.#policy = new RbacPolicy(engine);
  }

  /** Whether the user may do what is asked. */
  decide(user: UserInfo, asked: AccessAttributes): AccessDecision {
    if (user.groups.includes("system:masters")) return { allowed: true, reason: "" };
    const rules = this.#policy.rulesOf(user);
    const namespace = asked.kind === "resource" ? asked.namespace : undefined;
    const local = namespace === undefined ? [] : (rules.byNamespace.get(namespace) ?? []);
    if (rules.cluster.some((r) => ruleAllows(r, asked)) || local.some((r) => ruleAllows(r, asked))) {
      return { allowed: true, reason: "" };
    }
    const problems = [
      ...(rules.problems.get("") ?? []),
      ...(namespace === undefined ? [] : (rules.problems.get(namespace) ?? [])),
    ];
    if (problems.length === 0) return { allowed: false, reason: "" };
    return { allowed: false, reason: `RBAC: ${problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`}` };
  }

  /** All rules of the user, for SelfSubjectRulesReview. */
  rulesOf(user: UserInfo): UserRules {
    return this.#policy.rulesOf(user);
  }
}

/** The Status of a refused request, word for word as a Kubernetes API server says it. */
export function forbiddenStatus(user: UserInfo, asked: AccessAttributes, reason: string): ApiStatus {
  const because = reason === "" ? "" : `: ${reason}`;
  if (asked.kind === "nonResource") {
    const message = `User ${quote(user.username)} cannot ${asked.verb} path ${quote(asked.path)}`;
    return forbidden({ group: "", resource: "" }, "", message + because);
  }
  const resource = asked.subresource === undefined ? asked.resource : `${asked.resource}/${asked.subresource}`;
  const where = asked.namespace === undefined ? "at the cluster scope" : `in the namespace ${quote(asked.namespace)}`;
  const message = `User ${quote(user.username)} cannot ${asked.verb} resource ${quote(resource)} in API group ${quote(asked.group)} ${where}`;
  return forbidden({ group: asked.group, resource: asked.resource }, asked.name ?? "", message + because);
}

function quote(text: string): string {
  return JSON.stringify(text);
}
