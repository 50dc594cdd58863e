import { badRequest, expired, notFound, reply, tooLargeResourceVersion } from "../status.ts";
import type { ApiObject, ApiReply, ApiStatus, ResourceRequest } from "../types.ts";
import { decodeContinue, encodeContinue } from "./continue-token.ts";
import { type Core, isRefused, type Located, type Refused } from "./core.ts";
import { checkListOptions, readLimit, readResourceVersion, unreadableVersion } from "./list-options.ts";
import { present, presentItem } from "./presentation.ts";
import { apiVersionOf, tableOf } from "./resource-type.ts";
import { readSelection, type Selection } from "./selection.ts";
import { keyOf } from "./storage/store.ts";

/** Reads one object. */
export function get(core: Core, request: ResourceRequest, at: Located): ApiReply {
  const wanted = readResourceVersion(request.query.get("resourceVersion"));
  if (typeof wanted === "object") return reply(unreadableVersion(wanted.problem));
  if (wanted !== undefined && wanted > core.store.resourceVersion) {
    return reply(tooLargeResourceVersion(wanted, core.store.resourceVersion));
  }
  const name = request.name ?? "";
  const found = core.store.get(tableOf(at.type), keyOf(request.namespace, name));
  return found === undefined ? reply(notFound(at.type, name)) : { code: 200, body: present(found, at) };
}

/** A page of a list: what it shows, at which resourceVersion, and where the next page starts. */
interface Page {
  readonly objects: readonly ApiObject[];
  readonly resourceVersion: number;
  /** Total of objects from the start of the page on; set where a remaining count can be told. */
  readonly total: number | undefined;
  readonly nextAfter: string | undefined;
}

/** Lists objects, whole or by pages that all show the same moment. */
export function list(core: Core, request: ResourceRequest, at: Located): ApiReply {
  const selection = readSelection(request, at);
  if (isRefused(selection)) return reply(selection.refused);
  const page = readPage(core, request, at, selection);
  if (isRefused(page)) return reply(page.refused);
  const metadata: Record<string, unknown> = {
    // Lists of custom resources always carry the field.
    ...(at.type.custom ? { continue: "" } : {}),
    resourceVersion: String(page.resourceVersion),
  };
  if (page.nextAfter !== undefined) {
    metadata["continue"] = encodeContinue({ resourceVersion: page.resourceVersion, after: page.nextAfter });
    if (page.total !== undefined) metadata["remainingItemCount"] = page.total - page.objects.length;
  }
  return {
    code: 200,
    body: {
      kind: at.type.listKind,
      apiVersion: apiVersionOf(at.type.group, at.version.name),
      metadata,
      items: page.objects.map((o) => presentItem(o, at)),
    },
  };
}

function readPage(core: Core, request: ResourceRequest, at: Located, selection: Selection): Page | Refused {
  const start = checkListOptions(request.query, "list") ?? readStart(core, request);
  if (isRefused(start)) return start;
  const { query, namespace } = request;
  const all = core.store.listAt(tableOf(at.type), start.resourceVersion, namespace);
  const from = start.after === undefined ? all : all.slice(firstAfter(all, start.after));
  const selected = selection.selects === undefined ? from : from.filter(selection.selects);
  const limit = readLimit(query);
  if (limit === undefined || start.whole || selected.length <= limit) {
    return { objects: selected, resourceVersion: start.resourceVersion, total: undefined, nextAfter: undefined };
  }
  const objects = selected.slice(0, limit);
  const last = objects.at(-1)?.metadata;
  const total = selection.selects === undefined ? from.length : undefined;
  const nextAfter = keyOf(last?.namespace, last?.name ?? "");
  return { objects, resourceVersion: start.resourceVersion, total, nextAfter };
}

function firstAfter(objects: readonly ApiObject[], after: string): number {
  const found = objects.findIndex((o) => keyOf(o.metadata.namespace, o.metadata.name ?? "") > after);
  return found < 0 ? objects.length : found;
}

interface Start {
  readonly resourceVersion: number;
  readonly after: string | undefined;
  /** The limit is ignored: reads from the watch cache (resourceVersion 0) know no pages. */
  readonly whole: boolean;
}

function readStart(core: Core, request: ResourceRequest): Start | Refused {
  const { query } = request;
  const continued = query.get("continue") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  const given = query.get("resourceVersion") ?? "";
  if (continued !== "") return readContinued(core, continued, given);
  const wanted = readResourceVersion(given);
  if (typeof wanted === "object") return { refused: badRequest(`invalid resource version: ${wanted.problem}`) };
  const current = core.store.resourceVersion;
  if (wanted === undefined || wanted === 0) return { resourceVersion: current, after: undefined, whole: wanted === 0 };
  if (wanted > current) return { refused: tooLargeResourceVersion(wanted, current) };
  const exact = match === "Exact" || (match === "" && readLimit(query) !== undefined);
  if (!exact) return { resourceVersion: current, after: undefined, whole: false };
  if (wanted < core.store.compacted)
    return { refused: expired("The resourceVersion for the provided list is too old.") };
  return { resourceVersion: wanted, after: undefined, whole: false };
}

const TOO_OLD =
  "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
  "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
  "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted " +
  "between the time the first chunk was returned and now may show up in the list.";

function readContinued(core: Core, token: string, given: string): Start | Refused {
  const decoded = decodeContinue(token);
  if ("problem" in decoded) {
    return { refused: badRequest(`invalid continue token: continue key is not valid: ${decoded.problem}`) };
  }
  if (given !== "" && given !== "0") {
    return { refused: badRequest("specifying resource version is not allowed when using continue") };
  }
  const { after, resourceVersion } = decoded;
  const current = core.store.resourceVersion;
  if (resourceVersion < 0) return { resourceVersion: current, after, whole: false };
  if (resourceVersion > current) return { refused: tooLargeResourceVersion(resourceVersion, current) };
  if (resourceVersion >= core.store.compacted) return { resourceVersion, after, whole: false };
  const status = expired(TOO_OLD);
  return {
    refused: { ...status, metadata: { continue: encodeContinue({ resourceVersion: -1, after }) } } satisfies ApiStatus,
  };
}
