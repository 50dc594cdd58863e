import { expired, reply, tooLargeResourceVersion } from "../status.ts";
import type { ApiStatus, ResourceRequest, WatchEvent, WatchReply } from "../types.ts";
import type { Core, Located } from "./core.ts";
import { isRefused } from "./core.ts";
import { checkListOptions, readResourceVersion, unreadableVersion } from "./list-options.ts";
import { present } from "./presentation.ts";
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
  const wrong = checkListOptions(request.query, "watch");
  if (wrong !== undefined) return refuse(wrong.refused);
  const selection = readSelection(request, at);
  if (isRefused(selection)) return refuse(selection.refused);
  const from = readResourceVersion(request.query.get("resourceVersion"));
  if (typeof from === "object") return refuse(unreadableVersion(from.problem));
  const initial = request.query.get("sendInitialEvents") ?? "";
  const replays = initial === "" ? from === undefined || from === 0 : initial === "true";
  const current = core.store.resourceVersion;
  if (from !== undefined && from > current && (replays || behaviour.tooNew === "refuse")) {
    return failed(tooLargeResourceVersion(from, current), behaviour.tooNew === "refuse");
  }
  if (!replays && from !== undefined && from !== 0 && from < core.store.compacted) {
    const status = expired(`too old resource version: ${from} (${core.store.compacted})`);
    return failed(status, behaviour.tooOld === "status");
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

/** What is wrong with the resourceVersion is found out after the answer was begun, unless the server looks first. */
function failed(status: ApiStatus, atOnce: boolean): WatchReply {
  return atOnce ? refuse(status) : { kind: "events", events: once({ type: "ERROR", object: status }) };
}

async function* once(event: WatchEvent): AsyncGenerator<WatchEvent> {
  yield event;
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
    // Also where nobody has asked for initial events by name: current servers take such a watch for a watch list.
    if (wantsBookmarks(request)) queue.push(bookmark(at, last, true));
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
  const limitMs = seconds === 0 ? LONGEST_MS : Math.max(0, seconds) * 1000;
  const end = core.clock.monotonicMs() + limitMs;
  const stop = AbortSignal.any([request.signal, queue.ended]);
  const marks = wantsBookmarks(request);
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

function wantsBookmarks({ query }: ResourceRequest): boolean {
  const asked = query.get("allowWatchBookmarks");
  return asked === "true" || asked === "1";
}

function bookmark(at: Located, resourceVersion: number, endsInitialEvents: boolean): WatchEvent {
  const annotations = endsInitialEvents ? { annotations: { "k8s.io/initial-events-end": "true" } } : {};
  return {
    type: "BOOKMARK",
    object: {
      kind: at.type.kind,
      apiVersion: apiVersionOf(at.type.group, at.version.name),
      metadata: { resourceVersion: String(resourceVersion), ...annotations },
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
