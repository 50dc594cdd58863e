import type { AnnounceStore } from "../../lib/antrea/ports.ts";
import { failed, ok } from "../../lib/base/result.ts";
import type { Condition } from "../../lib/state/condition.ts";
import { decideAreaWrite } from "../../lib/state/condition-area.ts";
import type { NewHistoryEvent } from "../../lib/state/history.ts";
import type { Membership } from "../../lib/state/membership.ts";
import { decideMembershipChange } from "../../lib/state/membership-change.ts";

const AWAY = failed({ kind: "unavailable", message: "the table is away" } as const);

/** The table in memory, by the same decisions as the real one. */
export class MemoryStore implements AnnounceStore {
  readonly memberships = new Map<string, Membership>();
  readonly conditions = new Map<string, Record<string, Condition>>();
  readonly events: (NewHistoryEvent & { readonly cluster: string })[] = [];
  writes = 0;
  reads = 0;
  revision = 1;
  away = false;

  add(membership: Membership): void {
    this.memberships.set(membership.cluster, membership);
    this.revision += 1;
  }

  condition(cluster: string, type: string): Condition | undefined {
    return this.conditions.get(cluster)?.[type];
  }

  readonly readShardMemberships: AnnounceStore["readShardMemberships"] = async (shard) =>
    this.away ? AWAY : ok([...this.memberships.values()].filter((m) => m.shard === shard));

  readonly readConditions: AnnounceStore["readConditions"] = async (cluster) => {
    this.reads += 1;
    if (this.away) return AWAY;
    const found = Object.entries(this.conditions.get(cluster) ?? {});
    return ok(found.map(([type, condition]) => ({ ...condition, area: "announce", type })));
  };

  readonly fences = new Map<string, number>();

  readonly fenceConditions: AnnounceStore["fenceConditions"] = async ({ cluster }, { fence }) => {
    if (this.away) return AWAY;
    if ((this.fences.get(cluster) ?? 0) > fence) return ok("outdated");
    this.writes += 1;
    this.fences.set(cluster, fence);
    return ok("fenced");
  };

  readonly writeConditions: AnnounceStore["writeConditions"] = async (area, next, { summary, event }) => {
    if (this.away) return AWAY;
    const before = this.conditions.get(area.cluster) ?? {};
    const fence = Math.max(...Object.values(next).map((condition) => condition.fence));
    if ((this.fences.get(area.cluster) ?? 0) > fence) return ok({ kind: "outdated", conditions: before });
    const decision = decideAreaWrite(before, next);
    if (decision.kind !== "write") return ok({ kind: decision.kind, conditions: before });
    this.writes += 1;
    this.fences.set(area.cluster, fence);
    const conditions = { ...before, ...decision.conditions };
    this.conditions.set(area.cluster, conditions);
    if (event !== undefined) this.events.push({ ...event, cluster: area.cluster });
    const membership = this.memberships.get(area.cluster);
    if (membership !== undefined && summary !== undefined) {
      this.memberships.set(area.cluster, { ...membership, summary });
    }
    return ok({ kind: "written", conditions });
  };

  readonly writeEvent: AnnounceStore["writeEvent"] = async (cluster, event) => {
    if (this.away) return AWAY;
    this.events.push({ ...event, cluster });
    return ok({ ...event, id: String(this.events.length) });
  };

  readonly updateMembership: AnnounceStore["updateMembership"] = async ({ cluster }, change, expect) => {
    if (this.away) return AWAY;
    const before = this.memberships.get(cluster);
    if (before === undefined) return ok({ kind: "absent" });
    const decision = decideMembershipChange(before, change, expect, 0);
    if (decision.kind === "refused") return ok({ kind: "refused", because: decision.because, membership: before });
    if (decision.kind === "unchanged") return ok({ kind: "unchanged", membership: before });
    this.writes += 1;
    this.memberships.set(cluster, decision.next);
    if (decision.raisesRevision) this.revision += 1;
    return ok({ kind: "updated", membership: decision.next });
  };
}
