import type { ObjectRef } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";
import { applyAction } from "./action.ts";
import { canonicalJson } from "./canonical.ts";
import type { Look } from "./member-objects.ts";
import { waiting } from "./plans.ts";
import type { Done, ImportAction, ImportContext, ImportPlan } from "./reconciler.ts";

/** How often it is planned again, when the member keeps changing under our hands. */
const PLANS = 8;

/** How planning and writing in turn ended. */
export type Rest =
  | { readonly kind: "rest"; readonly plan: ImportPlan }
  | { readonly kind: "halted" }
  | { readonly kind: "failed"; readonly error: KubeError }
  /** All is done in the member, but the leader could not be told. */
  | { readonly kind: "untold"; readonly error: KubeError; readonly plan: ImportPlan | undefined };

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

  /** @param looksAt what is looked at before each plan */
  async run(looksAt: () => readonly Look[], makePlan: () => ImportPlan): Promise<Rest> {
    const { member, objects, timeoutMs, signal } = this.#context;
    for (let plans = 0; plans < PLANS; plans += 1) {
      const seen = await objects.observe(member, looksAt(), { timeoutMs, signal });
      if (!seen.ok) return signal.aborted ? { kind: "halted" } : { kind: "failed", error: seen.error };
      const plan = makePlan();
      for (const name of plan.released) this.#released.add(name);
      // A server that keeps in its own form what it was given does not come nearer to it.
      const actions = plan.actions.filter((action) => !this.#isSent(action));
      if (actions.length === 0) return { kind: "rest", plan };
      const end = await this.#apply(actions, plan);
      if (end !== undefined) return end;
    }
    return { kind: "failed", error: changesTooFast(member.cluster, looksAt()[0]) };
  }

  /** Tells the leader something, once. */
  async tell(action: ImportAction): Promise<Rest | undefined> {
    return this.#isSent(action) ? undefined : await this.#apply([action], undefined);
  }

  /** Undefined: look again. */
  async #apply(actions: readonly ImportAction[], plan: ImportPlan | undefined): Promise<Rest | undefined> {
    for (const action of actions) {
      const answer = await applyAction(action, this.#context);
      if (!answer.ok) return this.#failure(action, answer.error, plan);
      switch (answer.value) {
        case "halted":
          return { kind: "halted" };
        case "no-namespace":
          return { kind: "rest", plan: noNamespace(action) };
        case "moved":
          return undefined;
        case "done":
          if (action.kind !== "report") this.#writes += 1;
          this.#sent.set(keyOf(action), bodyOf(action));
      }
    }
    return undefined;
  }

  #failure(action: ImportAction, error: KubeError, plan: ImportPlan | undefined): Rest {
    if (this.#context.signal.aborted) return { kind: "halted" };
    return action.kind === "report" ? { kind: "untold", error, plan } : { kind: "failed", error };
  }

  /** A create or delete is planned again only when the object has come or gone in between. */
  #isSent(action: ImportAction): boolean {
    return (action.kind === "update" || action.kind === "report") && this.#sent.get(keyOf(action)) === bodyOf(action);
  }
}

function noNamespace(action: ImportAction): ImportPlan {
  const namespace = action.kind === "report" ? "" : (action.ref.namespace ?? "");
  const message = `Namespace ${namespace} is not there, or is being deleted; the import is installed when it is there`;
  return waiting("WaitingForNamespace", message);
}

/** Without what changes with every write. */
function bodyOf(action: ImportAction): string {
  if (action.kind !== "update") return "";
  const { metadata, status: _, ...rest } = action.object;
  const { resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return canonicalJson({ ...rest, metadata: kept });
}

function keyOf(action: ImportAction): string {
  return action.kind === "report"
    ? `report ${action.event.metadata.name ?? ""}`
    : `${action.kind} ${addressOf(action.ref)}`;
}

function addressOf({ type, namespace = "", name }: ObjectRef): string {
  return `${type.resource} ${namespace}/${name}`;
}

function changesTooFast(cluster: string, look: Look | undefined): KubeError {
  const object = look === undefined || !("name" in look) ? "objects" : addressOf(look);
  const message = `${object} in ${cluster} was changed by somebody else each time it was to be written; it is tried again`;
  return { kind: "conflict", status: 409, cluster, operation: "update", object, retry: "backoff", message };
}
