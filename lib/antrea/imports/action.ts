import { never, ok, type Result } from "../../base/result.ts";
import type { CallOptions } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { ImportAction, ImportContext } from "./reconciler.ts";

/** What an action came to. */
export type ActionOutcome =
  | "done"
  /** The member is not as the plan saw it: look again and plan again. */
  | "moved"
  /** It may not be written any more. */
  | "halted"
  /** The Namespace is missing, or on its way out. */
  | "no-namespace";

/** Does one action; what the server answers is what is known from then on. */
export async function applyAction(
  action: ImportAction,
  context: ImportContext,
): Promise<Result<ActionOutcome, KubeError>> {
  const { member, leader, objects, settings, timeoutMs, signal } = context;
  if (signal.aborted || !context.mayWrite()) return ok("halted");
  const options: CallOptions = { timeoutMs, signal };
  switch (action.kind) {
    case "create": {
      const { ref, object } = action;
      const made = await member.create(ref.type, ref.namespace, object, options);
      if (!made.ok) return judge(made.error, action, context);
      objects.note(ref, made.value.object);
      return ok("done");
    }
    case "update": {
      const written = await member.update(action.ref, action.object, options);
      if (!written.ok) return judge(written.error, action, context);
      objects.note(action.ref, written.value.object);
      return ok("done");
    }
    case "delete": {
      const { uid, resourceVersion, finalizers = [] } = action.seen.metadata;
      const preconditions = {
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      };
      const deleted = await member.delete(action.ref, preconditions, options);
      if (!deleted.ok && deleted.error.kind !== "notFound") return judge(deleted.error, action, context);
      // It went in the version that was seen; only one with finalizers may be there for a while.
      if (finalizers.length > 0) objects.forget(action.ref);
      else objects.note(action.ref, undefined);
      return ok("done");
    }
    case "report": {
      if (leader === undefined) return ok("done");
      const { namespace = settings.commonArea } = action.event.metadata;
      const made = await leader.create(EVENTS, namespace, action.event, options);
      return made.ok || made.error.kind === "alreadyExists" ? ok("done") : made;
    }
    default:
      return never(action);
  }
}

const EVENTS = { group: "", version: "v1", resource: "events" };

type MemberAction = Exclude<ImportAction, { kind: "report" }>;

function judge(error: KubeError, action: MemberAction, { objects }: ImportContext): Result<ActionOutcome, KubeError> {
  objects.forget(action.ref);
  if (error.kind === "conflict" || error.kind === "alreadyExists") return ok("moved");
  // An update of what is gone is planned again as a create.
  if (error.kind === "notFound" && action.kind === "update") return ok("moved");
  if (action.kind === "create" && isNamespaceMissing(error, action)) return ok("no-namespace");
  return { ok: false, error };
}

/**
 * A Namespace that is missing is a 404 on create, as is a type that the member does not serve; one that is being deleted
 * refuses new content with 403, as does a missing right. The server's words are the only sign of which it is.
 */
function isNamespaceMissing({ kind, message }: KubeError, { ref }: MemberAction): boolean {
  if (ref.namespace === undefined) return false;
  if (kind === "notFound") return message.includes(`namespaces "${ref.namespace}" not found`);
  return kind === "forbidden" && message.includes("because it is being terminated");
}
