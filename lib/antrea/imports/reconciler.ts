import type { Clock } from "../../base/clock.ts";
import type { KubeClient, KubeObject, ObjectRef, ResourceType } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { ImportedObject, ImportRecord, ImportState } from "../../state/imports.ts";
import type { Claims } from "./claims.ts";
import type { Look, MemberObjects, Observed } from "./member-objects.ts";
import type { ResourceImport } from "./resource-import.ts";

/**
 * What turns one ResourceImport of the leader into objects of a member. `observe` reads, `plan` decides and is pure,
 * `apply` writes one action after the other; `reconcile-import.ts` turns them round until there is nothing more to write.
 * A process may end between any two of them: what was made carries the importer's marker, or stands in the record, and is
 * found by the next round.
 */

/** The member as importing sees it. */
export type ImportMember = Pick<KubeClient, "cluster" | "get" | "list" | "create" | "update" | "delete">;

/** The leader, as far as the reconcilers speak to it: Events about policies that cannot be installed. */
export type ImportLeader = Pick<KubeClient, "cluster" | "create">;

/** What a membership says about its imports. */
export interface ImportSettings {
  /** The member's own cluster ID in its ClusterSet. */
  readonly clusterID: string;
  /** Namespace of the ClusterSet in the member; ClusterInfoImports live there. */
  readonly namespace: string;
  /** Namespace of the ResourceImports in the leader; Events go there. */
  readonly commonArea: string;
  /** Whether LabelIdentities are imported: Antrea's `enableStretchedNetworkPolicy`. */
  readonly labelIdentities: boolean;
  /** The Namespaces that imports may write to; absent: all but those of Kubernetes itself. */
  readonly namespaces?: readonly string[];
}

/** All that a reconciler works with; made per membership by whoever holds the window. */
export interface ImportContext {
  readonly member: ImportMember;
  /** Undefined: there is nobody to tell. */
  readonly leader: ImportLeader | undefined;
  /** What is known of the member's objects; kept for as long as the window likes, refreshed by every answer. */
  readonly objects: MemberObjects;
  /** Who has the right to what; kept by the reconcilers, begun with `noteRecords`. One for all imports of a member. */
  readonly claims: Claims;
  readonly settings: ImportSettings;
  readonly clock: Clock;
  /** Each call, in milliseconds. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Asked just before every write; false: the baton is not surely ours any more, nothing is written from here on. */
  readonly mayWrite: () => boolean;
}

/** One import to look at. It is asked for by name; the queue keeps only the newest version of each. */
export interface ImportRequest {
  /** `metadata.name` of the ResourceImport. */
  readonly name: string;
  /** As the leader has it now; undefined: it is gone there. */
  readonly wanted: ResourceImport | undefined;
  /**
   * What is known of it from before; undefined: nothing. Where an import is gone that has none, `lastSeen` says what it
   * was (the object of a DELETED event).
   */
  readonly record: ImportRecord | undefined;
  readonly lastSeen?: ResourceImport;
}

/** What decides what is looked at. */
export interface LookInput {
  readonly target: ImportRecord["target"];
  /** Undefined: it is to be removed. */
  readonly wanted: ResourceImport | undefined;
  readonly record: Pick<ImportRecord, "objects" | "state"> | undefined;
  readonly observed: Observed;
}

/** What plans see. Everything in it is data. */
export interface PlanInput {
  readonly wanted: ResourceImport;
  readonly record: ImportRecord | undefined;
  readonly observed: Observed;
  readonly settings: ImportSettings;
  /** Milliseconds since the epoch; for stamps in what is written. */
  readonly now: number;
}

/** What a removal sees: nothing is wanted any more. */
export interface RemovalInput {
  readonly target: ImportRecord["target"];
  readonly record: Pick<ImportRecord, "objects"> | undefined;
  readonly observed: Observed;
  readonly settings: Pick<ImportSettings, "clusterID" | "namespace">;
}

/** One write. Each is bound to the version that the plan has seen, so that nobody's change in between is lost. */
export type ImportAction =
  | { readonly kind: "create"; readonly ref: ObjectRef; readonly object: KubeObject }
  /** PUT of the whole object, with the resourceVersion that was observed. */
  | { readonly kind: "update"; readonly ref: ObjectRef; readonly object: KubeObject }
  /** Preconditions: the UID and resourceVersion that were observed. */
  | { readonly kind: "delete"; readonly ref: ObjectRef; readonly seen: KubeObject }
  /** A Warning in the leader's common area; its name is the same for the same transition, so that it is made once. */
  | { readonly kind: "report"; readonly event: KubeObject };

/** When an import at rest is looked at again, without any change of it. */
export type NextLook =
  /** With the next compare. */
  | "with-compare"
  /** After {@link LOOK_AGAIN_MS}: it waits for something in the member that nobody tells us of. */
  | "soon"
  /** After {@link LOOK_SHORTLY_MS}: a controller of the member is at it. */
  | "shortly";

/** What a plan comes to: what to write now, and what holds when that is written, or needs not be. */
export interface ImportPlan {
  readonly actions: readonly ImportAction[];
  readonly state: ImportState;
  /** Why it is not `Applied`, for people. */
  readonly error?: string;
  readonly nextLook: NextLook;
  /** Objects that stay although they were ours once: their user has taken them over. */
  readonly released: readonly string[];
}

/** Why an import is not installed, whatever the member looks like. */
export type Judgement =
  /** Nothing of it may be in the member. */
  | { readonly kind: "remove"; readonly because: string }
  /** It cannot be installed; what an earlier version of it installed stays until somebody decides. */
  | { readonly kind: "leave"; readonly state: "Unsupported" | "Invalid" | "Excluded"; readonly because: string };

/** One kind of import. */
export interface ImportKind {
  /** `spec.kind` on the wire. */
  readonly kind: string;
  /** What it is about in the member. */
  target(wanted: ResourceImport, settings: ImportSettings): ImportRecord["target"];
  /** What can be said without a look at the member; undefined: it may be planned. */
  judge(wanted: ResourceImport, settings: ImportSettings): Judgement | undefined;
  /** What to look at before a plan; what it makes is among it. */
  looksAt(input: LookInput): readonly Look[];
  /** What the member holds for imports of this kind that is the importer's; of a complete list. Each target once. */
  targetsOf(objects: MemberObjects, settings: Pick<ImportSettings, "namespace">): readonly ImportRecord["target"][];
  /** The objects of `looksAt` that are ours. */
  owned(input: RemovalInput): readonly ImportedObject[];
  /** Pure. */
  plan(input: PlanInput): ImportPlan;
  /** Pure. Only what is ours goes. */
  planRemoval(input: RemovalInput): ImportPlan;
  /** What an error of the member is called, for the state of the import; undefined: the error's own message. */
  describe?(input: PlanInput, error: KubeError): string | undefined;
  /** Pure. What the leader is told of a member's error, if it was not told before. */
  report?(input: PlanInput, description: string): ImportAction | undefined;
  /** The type that the member refuses by this error, if there is another way without it. */
  refusedType?(error: KubeError): ResourceType | undefined;
}

/** The fields of a record that reconciling decides; the others (since, attempts, fence) are the engine's. */
export type ImportProgress = Pick<
  ImportRecord,
  "name" | "kind" | "target" | "objects" | "appliedHash" | "state" | "error"
>;

/** What one round came to. */
export type ImportOutcome =
  /** At rest until the import changes, or until `afterMs` if that is given, in milliseconds. */
  | { readonly kind: "settled"; readonly next: ImportProgress; readonly afterMs?: number; readonly done: Done }
  /** To be tried again by backoff; the objects that were made before the error are in `next`. */
  | { readonly kind: "failed"; readonly next: ImportProgress; readonly error: KubeError; readonly done: Done }
  /** All that was ours is gone: the record goes too. */
  | { readonly kind: "removed"; readonly done: Done }
  /** Nothing that Hawser is asked to import, and nothing of it in the member: no record is kept. */
  | { readonly kind: "ignored" }
  /** `mayWrite` said no, or the signal fired: the record stays as it was. */
  | { readonly kind: "halted"; readonly done: Done };

/** What was done on the way. */
export interface Done {
  /** Writes to the member that succeeded. */
  readonly writes: number;
  /** Objects that stay because their user took them over, for one event in the history. */
  readonly released: readonly string[];
}

/**
 * How long an import waits that needs something of the member which nobody tells us of (a Namespace, a Tier, a name that
 * a user has taken), in milliseconds: at most six looks in five minutes, and installed within a minute.
 */
export const LOOK_AGAIN_MS = 55_000;

/** How long an import waits for a controller of the member to have done its part, in milliseconds. */
export const LOOK_SHORTLY_MS = 2_000;
