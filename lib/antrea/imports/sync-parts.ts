import type { CursorSource } from "../../state/cursor.ts";
import type { ImportRecord } from "../../state/imports.ts";
import type { Membership } from "../../state/membership.ts";
import type { Claims } from "./claims.ts";
import type { ImportQueue } from "./import-queue.ts";
import type { MemberLease } from "./member-lease.ts";
import type { MemberObjects } from "./member-objects.ts";
import type { ImportSettings } from "./reconciler.ts";
import type { SyncHold, WatchDependencies, WatchedLeader, WatchTiming } from "./sync-ports.ts";

/** What the parts of one member's sync share, for as long as it is connected to one leader in one way. */
export interface SyncParts {
  readonly membership: Membership;
  readonly settings: ImportSettings;
  readonly source: CursorSource;
  readonly leader: WatchedLeader;
  readonly lease: MemberLease;
  readonly deps: WatchDependencies;
  readonly timing: WatchTiming;
  readonly hold: SyncHold;
  /** What the table says of each import. */
  readonly records: Map<string, ImportRecord>;
  readonly queue: ImportQueue;
  /** Made anew by each complete compare. */
  objects: MemberObjects;
  claims: Claims;
  /** A later holder was there: everything ends. */
  readonly supersede: () => void;
}
