import { failed, ok, type Result } from "../base/result.ts";
import type { KubeObject } from "./client.ts";
import type { KubeError } from "./errors.ts";

/** One page of a list, as the wire has it. */
export interface ListPage {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** Empty on the last page. */
  readonly continueToken: string;
}

/** A complete list. */
export interface CompleteList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
}

/** More is not kept in memory. */
const MOST_ITEMS = 100_000;

/** Reads a list's body; undefined when it is none. A Go server writes an empty list as `null`. */
export function readListPage(body: unknown): ListPage | undefined {
  if (typeof body !== "object" || body === null) return undefined;
  const { items, metadata } = body as { readonly items?: unknown; readonly metadata?: unknown };
  if (!(Array.isArray(items) || items === null) || typeof metadata !== "object" || metadata === null) return undefined;
  const meta = metadata as { readonly resourceVersion?: unknown; readonly continue?: unknown };
  const complete = (items ?? []) as readonly KubeObject[];
  if (!complete.every((item) => typeof item === "object" && item !== null && typeof item.metadata === "object")) {
    return undefined;
  }
  return {
    items: complete,
    resourceVersion: typeof meta.resourceVersion === "string" ? meta.resourceVersion : "",
    continueToken: typeof meta.continue === "string" ? meta.continue : "",
  };
}

/**
 * Reads all pages of a list. When a later page is gone (the server has compacted the version that the list was begun at)
 * it starts over, once, from nothing: pages of two versions are never mixed, and an incomplete list is never a list.
 * @param readPage reads the page of a continue token; the empty token is the first page
 * @param tooMany what to answer above the limit
 */
export async function readAllPages(
  readPage: (continueToken: string) => Promise<Result<ListPage, KubeError>>,
  tooMany: () => KubeError,
): Promise<Result<CompleteList, KubeError>> {
  let restarts = 0;
  let items: KubeObject[] = [];
  let token = "";
  for (;;) {
    const page = await readPage(token);
    if (!page.ok) {
      if (page.error.kind !== "gone" || token === "" || restarts > 0) return page;
      restarts += 1;
      items = [];
      token = "";
      continue;
    }
    if (items.length + page.value.items.length > MOST_ITEMS) return failed(tooMany());
    for (const item of page.value.items) items.push(item);
    token = page.value.continueToken;
    if (token === "") return ok({ items, resourceVersion: page.value.resourceVersion });
  }
}
