import { ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import { items, readItem } from "./items.ts";
import { UNDER_WAY } from "./keys.ts";
import { type Membership, SUMMARY_STATES, type SummaryState } from "./membership.ts";
import { pagePosition, pageToken } from "./page-token.ts";
import { membershipKeys, readAll } from "./pages.ts";
import type { StoreParts } from "./store-parts.ts";
import { equals } from "./writes.ts";

/** A page of memberships; `next` is the `startFrom` of the one that follows, if there is one. */
export interface MembershipPage {
  readonly memberships: readonly Membership[];
  readonly next?: string;
}

/** What to list. */
export interface MembershipListing {
  /** Absent: all states, one after the other. */
  readonly state?: SummaryState | undefined;
  /** Most memberships of a page; absent: 100. */
  readonly limit?: number | undefined;
  readonly startFrom?: string | undefined;
}

/** Lists memberships, by state and then by cluster. */
export interface MembershipListStore {
  /**
   * One page. It reads the index, which follows the table within a moment: a membership that changes its state while it
   * is listed may be missed or met twice.
   */
  listMemberships(listing: MembershipListing, signal: AbortSignal): Promise<Result<MembershipPage, StateError>>;
  /** All memberships that are joining, leaving or have left and are still in the table; strongly consistent. */
  listUnderWay(signal: AbortSignal): Promise<Result<readonly Membership[], StateError>>;
}

/** The listing by the index of states. */
export function membershipList(parts: StoreParts): MembershipListStore {
  const { table, onUnreadable } = parts;
  const list: MembershipListStore["listMemberships"] = async ({ state, limit = 100, startFrom }, signal) => {
    const position = pagePosition(startFrom);
    if (!position.ok) return position;
    const states = state === undefined ? SUMMARY_STATES : [state];
    const memberships: Membership[] = [];
    let { part, after } = { after: undefined, ...position.value };
    for (; part < states.length; part += 1, after = undefined) {
      const room = limit - memberships.length;
      if (room <= 0) return ok({ memberships, next: pageToken({ part }) });
      const query = {
        index: "byState",
        where: equals("summaryState", states[part]),
        limit: room,
        startFrom: after,
      } as const;
      const page = await table.query(query, { what: "list memberships", signal });
      if (!page.ok) return page;
      for (const item of page.value.items) {
        const read = readItem(items.membership, item);
        if (read.ok) memberships.push(read.value);
        else onUnreadable(read.error);
      }
      const { next } = page.value;
      if (next !== undefined) {
        const key = Object.fromEntries(Object.entries(next).map(([name, of]) => [name, String(of)]));
        return ok({ memberships, next: pageToken({ part, after: key }) });
      }
    }
    return ok({ memberships });
  };
  return { listMemberships: list, listUnderWay: async (signal) => await listUnderWay(parts, signal) };
}

async function listUnderWay(
  { table, onUnreadable }: StoreParts,
  signal: AbortSignal,
): Promise<Result<readonly Membership[], StateError>> {
  const call = { what: "list memberships that are under way", signal };
  const entries = await readAll(table, { where: equals("pk", UNDER_WAY) }, call);
  if (!entries.ok) return entries;
  const found = await table.getMany(entries.value.flatMap(membershipKeys), call);
  if (!found.ok) return found;
  return ok(
    found.value.flatMap((item) => {
      const read = readItem(items.membership, item);
      if (read.ok) return read.value.phase === "joined" ? [] : [read.value];
      onUnreadable(read.error);
      return [];
    }),
  );
}
