import { type Clock, deadline } from "../base/clock.ts";
import type { CallOptions, KubeObject } from "../kube/client.ts";
import type { KubeError } from "../kube/errors.ts";
import type { LeaderTarget } from "./cluster-set.ts";
import { announceName, TOUCH_ANNOTATION } from "./names.ts";
import type { LeaderCluster } from "./ports.ts";
import { announceObject, announceRef, MEMBER_CLUSTER_ANNOUNCES } from "./resources.ts";

/** The IDs that an announce carries. */
export type AnnounceIds = Pick<LeaderTarget, "clusterID" | "clusterSetID" | "leaderClusterID">;

/** A field of the announce on the leader that is not what it should be. */
export interface IdMismatch {
  readonly field: keyof AnnounceIds;
  readonly wanted: string;
  readonly found: string;
}

/** What one beat has shown. */
export type BeatObservation =
  | {
      readonly kind: "ok";
      /** The announce existed before; false: this beat made it. */
      readonly found: boolean;
      /** Empty when the announce says what it should. */
      readonly mismatches: readonly IdMismatch[];
      /** It is being deleted: the beat counts, and it is expected to be made again once it is gone. */
      readonly terminating: boolean;
    }
  | {
      readonly kind: "failed";
      readonly error: KubeError;
      /** The refusal proves that the announce exists. */
      readonly found: boolean;
    }
  /** There is no announce and `mayCreate` said no: neither a success nor a failure. */
  | { readonly kind: "withheld" };

/** A request that is lost is sent this often within one beat, each time with an equal part of what is left of it. */
const TRIES = 3;

/** How a beat is sent. */
export interface BeatOptions {
  readonly clock: Clock;
  /** The whole beat, in milliseconds; to be shorter than the interval. */
  readonly timeoutMs: number;
  /** The leader is slow: it has the whole time for one answer, instead of a part of it for each of several tries. */
  readonly patient?: boolean;
  readonly signal?: AbortSignal;
  /**
   * Asked before an announce is made where there is none: a membership that is leaving must not make it again. To be
   * answered before the signal fires, as the question is part of the beat.
   */
  mayCreate(signal: AbortSignal): Promise<boolean>;
}

/**
 * One beat: a merge patch of `touch-ts`, so that one request is enough, the leader's finalizer and other people's
 * annotations stay, and no write of theirs can conflict. Only where there is no announce yet one is created.
 *
 * A conflict is tried once more: the API server reports one when other writes kept getting in between. AlreadyExists
 * means that somebody was faster, so it is patched after all. Silence is tried again within the beat: a connection that
 * died unnoticed, or a packet's way that did, is not to cost a beat.
 *
 * @param stamp gives `touch-ts`, another value for each try: the leader counts only what changes
 */
export async function sendBeat(
  leader: LeaderCluster,
  spec: LeaderTarget,
  stamp: () => string,
  options: BeatOptions,
): Promise<BeatObservation> {
  const { clock, timeoutMs, patient = false } = options;
  const endMs = clock.monotonicMs() + timeoutMs;
  const within = (untilMs: number) => (): CallOptions => ({
    timeoutMs: Math.max(1, untilMs - clock.monotonicMs()),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  for (let triesLeft = patient ? 1 : TRIES; ; triesLeft -= 1) {
    const nowMs = clock.monotonicMs();
    const touched = await touch(leader, spec, stamp(), within(nowMs + (endMs - nowMs) / triesLeft));
    if (touched.kind !== "failed") return touched;
    if (touched.error.kind === "notFound")
      return await createInstead(leader, spec, stamp(), { ...options, rest: within(endMs) });
    if (touched.error.kind !== "timeout" || triesLeft === 1 || options.signal?.aborted === true) return touched;
  }
}

/** A lost create is not repeated: the next beat finds out whether it arrived. */
async function createInstead(
  leader: LeaderCluster,
  spec: LeaderTarget,
  touchTs: string,
  options: BeatOptions & { readonly rest: () => CallOptions },
): Promise<BeatObservation> {
  const { rest } = options;
  if (!(await withinRest(options, rest().timeoutMs))) return { kind: "withheld" };
  const object = announceObject(spec, spec.commonArea, { [TOUCH_ANNOTATION]: touchTs });
  const created = await leader.create(MEMBER_CLUSTER_ANNOUNCES, spec.commonArea, object, rest());
  if (created.ok) return seen(created.value.object, spec, false);
  if (created.error.kind !== "alreadyExists") return { kind: "failed", error: created.error, found: false };
  return touch(leader, spec, touchTs, rest);
}

async function withinRest(options: BeatOptions, restMs: number): Promise<boolean> {
  using limit = deadline(options.clock, restMs, options.signal);
  return await options.mayCreate(limit.signal);
}

async function touch(
  leader: LeaderCluster,
  spec: LeaderTarget,
  touchTs: string,
  rest: () => CallOptions,
): Promise<BeatObservation> {
  const ref = announceRef(spec.commonArea, spec.clusterID);
  const patch = { metadata: { annotations: { [TOUCH_ANNOTATION]: touchTs } } };
  let answer = await leader.mergePatch(ref, patch, rest());
  if (!answer.ok && answer.error.kind === "conflict") answer = await leader.mergePatch(ref, patch, rest());
  if (answer.ok) return seen(answer.value.object, spec, true);
  return { kind: "failed", error: answer.error, found: provesAnnounce(answer.error) };
}

/**
 * An API server looks for the object before it asks admission webhooks about a patch, and finds conflicts only between
 * versions of an object: each of these answers means that there is one.
 */
function provesAnnounce(error: KubeError): boolean {
  return error.kind === "webhookDenied" || error.kind === "webhookUnavailable" || error.kind === "conflict";
}

function seen(object: KubeObject, ids: AnnounceIds, found: boolean): BeatObservation {
  const terminating = object.metadata.deletionTimestamp !== undefined;
  return { kind: "ok", found, mismatches: mismatchesOf(object, ids), terminating };
}

/** The fields of an announce that are not what they should be. */
export function mismatchesOf(announce: KubeObject, ids: AnnounceIds): readonly IdMismatch[] {
  const fields = ["clusterID", "clusterSetID", "leaderClusterID"] as const;
  return fields.flatMap((field) => {
    const there = announce[field];
    const text = typeof there === "string" ? there : "";
    return text === ids[field] ? [] : [{ field, wanted: ids[field], found: text }];
  });
}

/** The mismatch in words: what is wrong on the leader, and what to do. */
export function describeMismatch(mismatches: readonly IdMismatch[], spec: LeaderTarget): string {
  const list = mismatches.map((m) => `${m.field} is "${m.found}" instead of "${m.wanted}"`).join(", ");
  const name = announceName(spec.clusterID);
  return (
    `MemberClusterAnnounce ${spec.commonArea}/${name} on the leader carries other IDs than the member's ClusterSet: ${list}. ` +
    "Correct the ClusterSet, or delete the announce: it is made again with the right IDs"
  );
}
