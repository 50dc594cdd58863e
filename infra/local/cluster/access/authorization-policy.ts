import { objectIn, objectsIn, textIn } from "../engine/json.ts";
import type { ApiObject, Engine, UserInfo } from "../types.ts";
import { type PolicyRule, readRule } from "./authorization-rules.ts";

const RBAC = "rbac.authorization.k8s.io";
const TYPES = ["roles", "clusterroles", "rolebindings", "clusterrolebindings"] as const;

/** Where a user's rules are read from. */
export type PolicyReader = Pick<Engine, "readAll" | "collectionVersion">;

/** The rules of one user. */
export interface UserRules {
  readonly cluster: readonly PolicyRule[];
  readonly byNamespace: ReadonlyMap<string, readonly PolicyRule[]>;
  /** Roles that bindings of the user name but that do not exist, in Kubernetes' words; `""` is for the whole cluster. */
  readonly problems: ReadonlyMap<string, readonly string[]>;
}

interface Binding {
  /** undefined for a ClusterRoleBinding. */
  readonly namespace: string | undefined;
  readonly roleKind: string;
  readonly roleName: string;
}

/** The RBAC objects of a cluster, parsed once and again only when one of them has changed. */
export class RbacPolicy {
  readonly #engine: () => PolicyReader;
  #version = "";
  #roles = new Map<string, readonly PolicyRule[]>();
  #bySubject = new Map<string, Binding[]>();
  #rules = new WeakMap<UserInfo, UserRules>();

  constructor(engine: () => PolicyReader) {
    this.#engine = engine;
  }

  /** All rules that the user's bindings give. */
  rulesOf(user: UserInfo): UserRules {
    this.#refresh();
    const known = this.#rules.get(user);
    if (known !== undefined) return known;
    const rules = this.#resolve(user);
    this.#rules.set(user, rules);
    return rules;
  }

  #refresh(): void {
    const engine = this.#engine();
    const version = TYPES.map((type) => engine.collectionVersion(RBAC, type)).join(",");
    if (version === this.#version) return;
    this.#roles = new Map([
      ...engine.readAll(RBAC, "clusterroles").map((r) => [roleKey("ClusterRole", undefined, r), rulesIn(r)] as const),
      ...engine.readAll(RBAC, "roles").map((r) => [roleKey("Role", r.metadata.namespace, r), rulesIn(r)] as const),
    ]);
    this.#bySubject = new Map();
    for (const binding of engine.readAll(RBAC, "clusterrolebindings")) this.#index(binding, undefined);
    for (const binding of engine.readAll(RBAC, "rolebindings")) this.#index(binding, binding.metadata.namespace ?? "");
    this.#rules = new WeakMap();
    this.#version = version;
  }

  #index(object: ApiObject, namespace: string | undefined): void {
    const ref = objectIn(object, "roleRef");
    const binding = { namespace, roleKind: textIn(ref, "kind"), roleName: textIn(ref, "name") };
    for (const subject of objectsIn(object, "subjects")) {
      const key = subjectKey(
        textIn(subject, "kind"),
        textIn(subject, "name"),
        textIn(subject, "namespace") || namespace,
      );
      const list = this.#bySubject.get(key);
      if (list === undefined) this.#bySubject.set(key, [binding]);
      else list.push(binding);
    }
  }

  #resolve(user: UserInfo): UserRules {
    const cluster: PolicyRule[] = [];
    const byNamespace = new Map<string, PolicyRule[]>();
    const problems = new Map<string, string[]>();
    const subjects = [`User:${user.username}`, ...user.groups.map((g) => `Group:${g}`)];
    for (const binding of subjects.flatMap((s) => this.#bySubject.get(s) ?? [])) {
      const rules = this.#roles.get(`${binding.roleKind}:${roleNamespace(binding)}:${binding.roleName}`);
      const where = binding.namespace ?? "";
      if (rules === undefined) problems.set(where, [...(problems.get(where) ?? []), missingRole(binding)]);
      else if (binding.namespace === undefined) cluster.push(...rules);
      else byNamespace.set(binding.namespace, [...(byNamespace.get(binding.namespace) ?? []), ...rules]);
    }
    return { cluster, byNamespace, problems };
  }
}

function rulesIn(role: ApiObject): readonly PolicyRule[] {
  return objectsIn(role, "rules").map(readRule);
}

function subjectKey(kind: string, name: string, namespace: string | undefined): string {
  return kind === "ServiceAccount" ? `User:system:serviceaccount:${namespace ?? ""}:${name}` : `${kind}:${name}`;
}

function roleKey(kind: string, namespace: string | undefined, role: ApiObject): string {
  return `${kind}:${namespace ?? ""}:${role.metadata.name ?? ""}`;
}

function roleNamespace(binding: Binding): string {
  return binding.roleKind === "Role" ? (binding.namespace ?? "") : "";
}

function missingRole(binding: Binding): string {
  return `${binding.roleKind.toLowerCase()}.${RBAC} ${JSON.stringify(binding.roleName)} not found`;
}
