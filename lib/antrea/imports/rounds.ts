import type { ObjectRef } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";
import { applyAction } from "./action.ts";
import { canonicalJson } from "./canonical.ts";
import { atRest, waiting } from "./plans.ts";
import type { Done, ImportAction, ImportContext, ImportPlan } from "./reconciler.ts";

/** How often it is planned again, when the member keeps changing under our hands. */
const PLANS = 8;

/** How planning and writing in turn ended. */
export type Rest =
  | { readonly kind: "rest"; readonly plan: ImportPlan }
  | { readonly kind: "halted" }
  | { readonly kind: "failed"; readonly error: KubeError };

/** One import's affair while it is worked on: it observes, plans and applies in turn until there is nothing to write. */
export class Rounds {
  readonly #context: ImportContext;
  #writes = 0;
  readonly #released = new Set<string>();
  /** What was last sent for an object, so that a server that keeps it in another form is not sent it again. */
  readonly #sent = new Map<string, string>();

  constructor(context: ImportContext) {
    this.#context = context;
  }

  /** What was done so far. */
  done(): Done {
    return { writes: this.#writes, released: [...this.#released] };
  }

  /** @param refs what is looked at before each plan */
  async run(refs: readonly ObjectRef[], makePlan: () => ImportPlan): Promise<Rest> {
    const { member, objects, timeoutMs, signal } = this.#context;
    for (let plans = 0; plans < PLANS; plans += 1) {
      const seen = await objects.observe(member, refs, { timeoutMs, signal });
      if (!seen.ok) return signal.aborted ? { kind: "halted" } : { kind: "failed", error: seen.error };
      const plan = makePlan();
      for (const name of plan.released) this.#released.add(name);
      if (plan.actions.length === 0) return { kind: "rest", plan };
      const actions = plan.actions.filter((action) => !this.#isSent(action));
      // The server keeps in its own form what it was given: nearer than this it does not come.
      if (actions.length === 0) return { kind: "rest", plan: atRest("Applied") };
      const end = await this.#apply(actions);
      if (end !== undefined) return end;
    }
    return { kind: "failed", error: changesTooFast(member.cluster, refs[0]) };
  }

  /** Undefined: look again. */
  async #apply(actions: readonly ImportAction[]): Promise<Rest | undefined> {
    for (const action of actions) {
      const answer = await applyAction(action, this.#context);
      if (!answer.ok)
        return this.#context.signal.aborted ? { kind: "halted" } : { kind: "failed", error: answer.error };
      switch (answer.value) {
        case "halted":
          return { kind: "halted" };
        case "no-namespace":
          return { kind: "rest", plan: noNamespace(action) };
        case "moved":
          return undefined;
        case "done":
          if (action.kind !== "report") this.#writes += 1;
          if (action.kind === "update") this.#sent.set(addressOf(action.ref), bodyOf(action));
      }
    }
    return undefined;
  }

  #isSent(action: ImportAction): boolean {
    return action.kind === "update" && this.#sent.get(addressOf(action.ref)) === bodyOf(action);
  }
}

function noNamespace(action: ImportAction): ImportPlan {
  const namespace = action.kind === "report" ? "" : (action.ref.namespace ?? "");
  const message = `Namespace ${namespace} is not there, or is being deleted; the import is installed when it is there`;
  return waiting("WaitingForNamespace", message);
}

/** Without what changes with every write. */
function bodyOf({ object }: ImportAction & { readonly kind: "update" }): string {
  const { metadata, status: _, ...rest } = object;
  const { resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return canonicalJson({ ...rest, metadata: kept });
}

function addressOf({ type, namespace = "", name }: ObjectRef): string {
  return `${type.resource} ${namespace}/${name}`;
}

function changesTooFast(cluster: string, ref: ObjectRef | undefined): KubeError {
  const object = ref === undefined ? "objects" : addressOf(ref);
  const message = `${object} in ${cluster} was changed by somebody else each time it was to be written; it is tried again`;
  return { kind: "conflict", status: 409, cluster, operation: "update", object, retry: "backoff", message };
}
