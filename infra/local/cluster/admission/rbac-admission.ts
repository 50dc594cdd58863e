import type { Authorizer } from "../access/authorization.ts";
import { objectIn, objectsIn, textIn } from "../engine/json.ts";
import { forbidden, notFound } from "../status.ts";
import type { Admission, AdmissionAttributes, ApiObject, ApiStatus, Engine, UserInfo } from "../types.ts";
import { missingRights } from "./rbac-rights.ts";

const GROUP = "rbac.authorization.k8s.io";
const ROLES = ["roles", "clusterroles"];
const BINDINGS = ["rolebindings", "clusterrolebindings"];

type Reader = Pick<Engine, "readOne">;

/** Nobody gives away rights that he does not hold, unless he has the verb `escalate` (roles) or `bind` (bindings). */
export function rbacAdmission(authorizer: Authorizer, engine: () => Reader, next: Admission): Admission {
  return async (phase, attributes) => {
    const { group, operation, user } = attributes;
    const isMaster = user.groups.includes("system:masters");
    if (phase === "validating" && group === GROUP && operation !== "DELETE" && !isMaster) {
      const status = refusalOf(authorizer, engine(), attributes);
      if (status !== undefined) return { allowed: false, status };
    }
    return await next(phase, attributes);
  };
}

function refusalOf(authorizer: Authorizer, engine: Reader, attributes: AdmissionAttributes): ApiStatus | undefined {
  const { user, resource, namespace, name, object = {}, operation } = attributes;
  const may = (verb: string, of: string, named: string): boolean =>
    authorizer.decide(user, { kind: "resource", verb, group: GROUP, resource: of, namespace, name: named }).allowed;
  if (ROLES.includes(resource)) {
    // The path of a create has no name yet, so that a right for a name does not reach it.
    if (may("escalate", resource, operation === "CREATE" ? "" : name)) return undefined;
    return escalation(authorizer, user, object, attributes);
  }
  if (!BINDINGS.includes(resource)) return undefined;
  const reference = objectIn(object, "roleRef");
  const roles = textIn(reference, "kind") === "Role" ? "roles" : "clusterroles";
  const bound = textIn(reference, "name");
  if (may("bind", roles, bound)) return undefined;
  const role = engine.readOne(GROUP, roles, roles === "roles" ? namespace : undefined, bound);
  if (role === undefined) return notFound({ group: GROUP, resource }, bound);
  return escalation(authorizer, user, role, attributes);
}

function escalation(
  authorizer: Authorizer,
  user: UserInfo,
  role: ApiObject | Record<string, unknown>,
  { resource, namespace, name }: AdmissionAttributes,
): ApiStatus | undefined {
  const held = authorizer.rulesOf(user);
  const own = [...held.cluster, ...(namespace === undefined ? [] : (held.byNamespace.get(namespace) ?? []))];
  const missing = missingRights(own, objectsIn(role, "rules"));
  if (missing.length === 0) return undefined;
  const groups = user.groups.map((g) => JSON.stringify(g)).join(" ");
  const who = `user ${JSON.stringify(user.username)} (groups=[${groups}])`;
  const words = `${who} is attempting to grant RBAC permissions not currently held:\n${missing.join("\n")}`;
  return forbidden({ group: GROUP, resource }, name, words);
}
