import { type FieldError, fieldForbidden } from "../field-error.ts";
import { badRequest, expired, failure, invalidObject, reply, tooLargeResourceVersion } from "../status.ts";
import type { ApiStatus, ResourceRequest, WatchEvent, WatchReply } from "../types.ts";
import type { Core, Located } from "./core.ts";
import { isRefused } from "./core.ts";
import { present } from "./presentation.ts";
import { readResourceVersion } from "./reads.ts";
import { apiVersionOf, tableOf } from "./resource-type.ts";
import { readSelection } from "./selection.ts";
import type { Selects } from "./selectors.ts";
import type { StoredEvent } from "./storage/store.ts";
import { WatchQueue } from "./storage/watch-queue.ts";

/** How watches behave where API servers differ. */
export interface WatchBehaviour {
  /** A resourceVersion that is too old: an `ERROR` event in an answer of 200, as current servers do, or a plain 410. */
  readonly tooOld: "event" | "status";
  /** A resourceVersion of the future: the watch opens and waits for it, or is refused with 504. */
  readonly tooNew: "wait" | "refuse";
  /** Time between two bookmarks, in milliseconds. */
  readonly bookmarkMs: number;
}

/** A watch without a time limit of its own ends after this time, in milliseconds. */
const LONGEST_MS = 30 * 60_000;

/** Opens a watch. */
export function watch(core: Core, request: ResourceRequest, at: Located, behaviour: WatchBehaviour): WatchReply {
  const seconds = request.query.get("timeoutSeconds") ?? "";
  if (!/^([-+]?\d+)?$/.test(seconds)) {
    return refuse(badRequest(`strconv.ParseInt: parsing ${JSON.stringify(seconds)}: invalid syntax`));
  }
  const errors = initialEventsProblems(request.query);
  if (errors.length > 0) return refuse(invalidObject({ group: "meta.k8s.io", kind: "ListOptions" }, "", errors));
  const selection = readSelection(request, at);
  if (isRefused(selection)) return refuse(selection.refused);
  const from = readResourceVersion(request.query.get("resourceVersion"));
  if (typeof from === "object") {
    const message = from.refused.message.replace(/^invalid resource version: /, "");
    return refuse(failure(500, "", message));
  }
  const current = core.store.resourceVersion;
  const mustBeThere = request.query.get("sendInitialEvents") === "true" || behaviour.tooNew === "refuse";
  if (from !== undefined && from > current && mustBeThere) return refuse(tooLargeResourceVersion(from, current));
  const initial = request.query.get("sendInitialEvents");
  const replays = initial === null || initial === "" ? from === undefined || from === 0 : initial === "true";
  if (!replays && from !== undefined && from !== 0 && from < core.store.compacted) {
    const status = expired(`too old resource version: ${from} (${core.store.compacted})`);
    return behaviour.tooOld === "status"
      ? refuse(status)
      : { kind: "events", events: once({ type: "ERROR", object: status }) };
  }
  const opened = { core, request, at, behaviour, selects: selection.selects ?? everything };
  return { kind: "events", events: open(opened, replays, from ?? 0) };
}

interface Opened {
  readonly core: Core;
  readonly request: ResourceRequest;
  readonly at: Located;
  readonly behaviour: WatchBehaviour;
  readonly selects: Selects;
}

const everything: Selects = () => true;

function refuse(status: ApiStatus): WatchReply {
  return { kind: "refused", reply: reply(status) };
}

async function* once(event: WatchEvent): AsyncGenerator<WatchEvent> {
  yield event;
}

function initialEventsProblems(query: URLSearchParams): readonly FieldError[] {
  const match = query.get("resourceVersionMatch") ?? "";
  const initial = query.get("sendInitialEvents") ?? "";
  if (initial !== "" && match !== "NotOlderThan") {
    return [
      fieldForbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"),
    ];
  }
  if (initial === "" && match !== "") {
    return [
      fieldForbidden(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      ),
    ];
  }
  return [];
}

/**
 * Subscribes before it returns, so that no change is lost between the answer and the first event read. What is replayed
 * is queued first.
 */
function open(opened: Opened, replays: boolean, from: number): AsyncIterable<WatchEvent> {
  const { core, request, at } = opened;
  const table = tableOf(at.type);
  const queue = new WatchQueue();
  let last = core.store.resourceVersion;
  const accept = (event: StoredEvent): void => {
    if (event.resourceVersion <= from) return;
    last = event.resourceVersion;
    const shown = toWatchEvent(event, opened);
    if (shown !== undefined) queue.push(shown);
  };
  if (replays) {
    for (const object of core.store.list(table, request.namespace)) {
      if (opened.selects(object)) queue.push({ type: "ADDED", object: present(object, at) });
    }
    if (request.query.get("sendInitialEvents") === "true") queue.push(bookmark(at, last, true));
  } else if (from > 0) for (const event of core.store.eventsAfter(from)) if (event.table === table) accept(event);
  const unsubscribe = core.store.subscribe(table, accept, () => queue.end());
  void keepTime(opened, queue, () => Math.max(last, core.store.resourceVersion));
  queue.onEnd(unsubscribe);
  return queue;
}

/** Ends the watch at its time limit or with its request, and sends bookmarks until then. */
async function keepTime(opened: Opened, queue: WatchQueue, position: () => number): Promise<void> {
  const { core, request, behaviour, at } = opened;
  const seconds = Number(request.query.get("timeoutSeconds") ?? "");
  const limitMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : LONGEST_MS;
  const end = core.clock.monotonicMs() + limitMs;
  const stop = AbortSignal.any([request.signal, queue.ended]);
  const marks = request.query.get("allowWatchBookmarks") === "true" || request.query.get("allowWatchBookmarks") === "1";
  while (!stop.aborted) {
    const leftMs = end - core.clock.monotonicMs();
    if (leftMs <= 0) break;
    // As real servers do, one bookmark comes shortly before the end, so that the next watch resumes from there.
    const untilLast = leftMs > 2000 ? leftMs - 2000 : leftMs;
    await core.clock.sleep(marks ? Math.min(behaviour.bookmarkMs, untilLast) : leftMs, stop);
    if (marks && !stop.aborted && end - core.clock.monotonicMs() > 0) queue.push(bookmark(at, position(), false));
  }
  queue.end();
}

function bookmark(at: Located, resourceVersion: number, endsInitialEvents: boolean): WatchEvent {
  const annotations = endsInitialEvents ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  return {
    type: "BOOKMARK",
    object: {
      kind: at.type.kind,
      apiVersion: apiVersionOf(at.type.group, at.version.name),
      metadata: { resourceVersion: String(resourceVersion), creationTimestamp: null, ...annotations },
    },
  };
}

/**
 * What a change looks like through the selection: an object that comes into it is ADDED, one that leaves it is DELETED and
 * shown as it was, with the resourceVersion of the change.
 */
function toWatchEvent(event: StoredEvent, opened: Opened): WatchEvent | undefined {
  const { at, selects, request } = opened;
  if (
    request.namespace !== undefined &&
    request.namespace !== "" &&
    event.object.metadata.namespace !== request.namespace
  ) {
    return undefined;
  }
  const was = event.previous !== undefined && selects(event.previous);
  const is = event.type !== "DELETED" && selects(event.object);
  if (is) return { type: was ? "MODIFIED" : "ADDED", object: present(event.object, at) };
  if (!was || event.previous === undefined) return undefined;
  if (event.type === "DELETED") return { type: "DELETED", object: present(event.object, at) };
  const metadata = { ...event.previous.metadata, resourceVersion: String(event.resourceVersion) };
  return { type: "DELETED", object: present({ ...event.previous, metadata }, at) };
}
