import type { Clock } from "../../../../lib/base/clock.ts";
import { arrayIn, equalJson, isJsonObject, objectIn, objectsIn } from "../engine/json.ts";
import { selectorMatches } from "../engine/label-selector.ts";
import type { ApiObject, Engine } from "../types.ts";
import { follow } from "./follow.ts";

const ROLES = { group: "rbac.authorization.k8s.io", version: "v1", resource: "clusterroles" };

/** What the controller works with. */
export interface RoleAggregationOptions {
  readonly engine: Engine;
  readonly clock: Clock;
}

/** Writes the rules of ClusterRoles that gather those of others, as kube-controller-manager's `clusterrole-aggregation` does. */
export class RoleAggregation {
  readonly #engine: Engine;
  readonly #ended = new AbortController();
  readonly #work: Promise<void>;

  /** Starts at once. */
  constructor({ engine, clock }: RoleAggregationOptions) {
    this.#engine = engine;
    this.#work = follow({ engine, clock, signal: this.#ended.signal }, ROLES, () => this.settle());
  }

  /** Does now what is to do, instead of when the watch tells. */
  async settle(): Promise<void> {
    const roles = this.#engine.readAll(ROLES.group, ROLES.resource);
    for (const role of roles) {
      if (!isJsonObject(role["aggregationRule"])) continue;
      const rules = gathered(role, roles);
      if (!equalJson(rules, arrayIn(role, "rules"))) await this.#engine.apply({ ...role, rules });
    }
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }
}

/** The rules of the roles that are selected, in the order of their names, each rule once. */
function gathered(role: ApiObject, roles: readonly ApiObject[]): readonly unknown[] {
  const selectors = arrayIn(objectIn(role, "aggregationRule"), "clusterRoleSelectors");
  const selected = roles.filter(
    (other) =>
      other.metadata.name !== role.metadata.name &&
      selectors.some((selector) => selectorMatches(selector, other.metadata.labels ?? {})),
  );
  const rules = selected.flatMap((other) => objectsIn(other, "rules"));
  return rules.filter((rule, i) => rules.findIndex((one) => equalJson(one, rule)) === i);
}
