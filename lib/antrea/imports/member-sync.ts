import { createHash } from "node:crypto";
import { backoffMs } from "../../base/backoff.ts";
import { deadline } from "../../base/clock.ts";
import { ok, type Result } from "../../base/result.ts";
import type { Connection } from "../../kube/connection.ts";
import type { RoundException } from "../../relay/ports.ts";
import type { Cursor, CursorSource } from "../../state/cursor.ts";
import type { StateError } from "../../state/errors.ts";
import type { ImportRecord } from "../../state/imports.ts";
import type { Membership } from "../../state/membership.ts";
import { accessReading, type LeaderConfiguration, type MemberReading, readMember } from "../member-reading.ts";
import type { MemberVisits } from "../member-visit.ts";
import { Claims } from "./claims.ts";
import { ConditionKeeper } from "./condition-keeper.ts";
import { ImportQueue } from "./import-queue.ts";
import { ImportWorker } from "./import-worker.ts";
import { LeaderWatch } from "./leader-watch.ts";
import { MemberLease } from "./member-lease.ts";
import { MemberObjects } from "./member-objects.ts";
import { RESOURCE_IMPORTS } from "./resource-import.ts";
import type { SyncParts } from "./sync-parts.ts";
import type { SyncHold, WatchDependencies, WatchTiming } from "./sync-ports.ts";
import { decideWatchStatement, notConnected, TABLE_RETRY } from "./watch-condition.ts";

/** How often the condition is looked after, in milliseconds. */
const CONDITION_MS = 2_000;

/** The last writes of a window that ends, in milliseconds. */
const LAST_WORD_MS = 2_000;

const PAGE = 200;

/** What a member's sync is made with. */
export interface MemberSyncOptions {
  readonly deps: WatchDependencies;
  readonly timing: WatchTiming;
  readonly visits: MemberVisits;
  /** Windowed: how long the leader is watched before the sync ends, in milliseconds; undefined: until it is told to. */
  readonly pollMs: number | undefined;
}

/** How a session with one leader ended. */
type SessionEnd = "ended" | "changed" | "superseded" | "polled" | "table";

/**
 * Keeps one member's imports as its leader says them, for as long as a window works: finds out where the leader is, goes
 * on where the last window stopped, and begins anew with another leader. Never rejects for anything that can be expected.
 */
export class MemberSync {
  readonly membership: Membership;
  readonly #options: MemberSyncOptions;
  readonly #condition: ConditionKeeper;
  #tableFailures = 0;
  #since: number | undefined;

  constructor(membership: Membership, options: MemberSyncOptions) {
    this.membership = membership;
    this.#options = options;
    this.#condition = new ConditionKeeper(options.deps, membership);
  }

  /** What the baton says of it; undefined when all is well. */
  exception(now: number): RoundException | undefined {
    const { shown } = this.#condition;
    if (shown === undefined || shown.status === "True") {
      this.#since = undefined;
      return undefined;
    }
    this.#since ??= now;
    return { kind: shown.cause ?? shown.reason, count: 0, since: this.#since };
  }

  /** Works until the signal fires, or, windowed, until everything that had come is done. */
  async run(hold: SyncHold, signal: AbortSignal): Promise<void> {
    const { deps, timing, pollMs } = this.#options;
    while (!signal.aborted) {
      const reading = await this.#read(signal);
      if (signal.aborted) return;
      let waitMs = timing.lookAgainMs;
      if (reading.kind === "configured") {
        const end = await this.#session(reading.configuration, hold, signal);
        if (end === "superseded" || end === "polled" || end === "ended") return;
        if (end === "changed") continue;
        this.#tableFailures += 1;
        waitMs = backoffMs(TABLE_RETRY, this.#tableFailures, deps.random);
      } else {
        await this.#condition.keep(notConnected(reading.fault), hold, signal);
      }
      if (pollMs !== undefined) return;
      await deps.clock.sleep(waitMs, signal);
    }
  }

  async #read(signal: AbortSignal): Promise<MemberReading> {
    const { antrea } = this.membership;
    const visited = await this.#options.visits.visit(this.membership, signal, (member, options) =>
      readMember(member, antrea, options),
    );
    return visited.ok ? visited.value : accessReading(visited.error);
  }

  async #session(configuration: LeaderConfiguration, hold: SyncHold, signal: AbortSignal): Promise<SessionEnd> {
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    let end: SessionEnd = "ended";
    const finish = (because: SessionEnd): void => {
      if (!ending.signal.aborted) end = because;
      ending.abort(because);
    };
    const begun = await this.#begin(configuration, hold, () => finish("superseded"), both);
    if (!begun.ok) return "table";
    this.#tableFailures = 0;
    const { parts, cursor } = begun.value;
    const worker = new ImportWorker(parts);
    const watch = new LeaderWatch(parts, cursor);
    const keepCondition = async (until: AbortSignal): Promise<void> => {
      const facts = { health: watch.health, memberFault: worker.fault, threshold: this.#threshold() };
      await this.#condition.keep(decideWatchStatement(facts), hold, until);
    };
    try {
      await Promise.all([
        worker.run(both),
        this.#follow(watch, parts, both).then((how) => how === "polled" && finish("polled")),
        this.#reread(configuration, both).then((changed) => changed && finish("changed")),
        this.#repeat(parts.timing.cursorMs, both, async () => await this.#keepCursor(parts, watch, both)),
        this.#repeat(CONDITION_MS, both, async () => await keepCondition(both)),
      ]);
    } finally {
      await parts.leader.close();
    }
    using lastWord = deadline(parts.deps.clock, LAST_WORD_MS);
    await this.#keepCursor(parts, watch, lastWord.signal);
    if (!signal.aborted) await keepCondition(lastWord.signal);
    return end;
  }

  /** A windowed sync says where it failed at once: it will not be there for a second try. */
  #threshold(): number {
    return this.#options.pollMs === undefined ? this.membership.options.failureThreshold : 1;
  }

  /** What the table knows of before. */
  async #begin(
    { spec, connection }: LeaderConfiguration,
    hold: SyncHold,
    supersede: () => void,
    signal: AbortSignal,
  ): Promise<Result<{ readonly parts: SyncParts; readonly cursor: Cursor | undefined }, StateError>> {
    const { deps, timing } = this.#options;
    const { cluster, antrea } = this.membership;
    const source = sourceOf(spec, connection);
    // The cursor first: what is stored between the two reads is then read twice, not missed.
    const cursor = await deps.store.readCursor(cluster, RESOURCE_IMPORTS.resource, source, signal);
    if (!cursor.ok) return cursor;
    const records = await this.#records(signal);
    if (!records.ok) return records;
    const claims = new Claims();
    claims.noteRecords(records.value.values());
    const queue = new ImportQueue(deps.clock, cursor.value?.resourceVersion);
    const { labelIdentities = false, namespaces } = antrea.imports ?? {};
    const parts: SyncParts = {
      membership: this.membership,
      settings: {
        clusterID: spec.clusterID,
        namespace: antrea.namespace,
        commonArea: spec.commonArea,
        labelIdentities,
        ...(namespaces === undefined ? {} : { namespaces }),
      },
      source,
      leader: deps.connector.watchLeader(`leader of ${cluster}`, connection),
      lease: new MemberLease(deps.connector, this.membership),
      deps,
      timing,
      hold,
      records: records.value,
      queue,
      objects: new MemberObjects(),
      claims,
      supersede,
    };
    const now = deps.clock.now().getTime();
    for (const record of records.value.values()) {
      const afterMs = dueAfter(record, now);
      if (afterMs !== undefined) queue.lookAfter(record.name, afterMs);
    }
    return ok({ parts, cursor: cursor.value });
  }

  async #records(signal: AbortSignal): Promise<Result<Map<string, ImportRecord>, StateError>> {
    const { store } = this.#options.deps;
    const records = new Map<string, ImportRecord>();
    let startFrom: string | undefined;
    do {
      const page = await store.listImports(this.membership.cluster, { limit: PAGE, startFrom }, signal);
      if (!page.ok) return page;
      for (const record of page.value.imports) records.set(record.name, record);
      startFrom = page.value.next;
    } while (startFrom !== undefined);
    return ok(records);
  }

  async #follow(watch: LeaderWatch, { queue }: SyncParts, signal: AbortSignal): Promise<"polled" | "ended"> {
    const { pollMs } = this.#options;
    if (pollMs === undefined) {
      await watch.run(signal);
      return "ended";
    }
    await watch.step(pollMs, signal);
    // What had come is done before the window ends, or stays for the next one where the member does not take it.
    while (!queue.idle && !signal.aborted && watch.health.fault === undefined) await queue.change(signal);
    return "polled";
  }

  /** True when the member names another leader, or the same in another way; false when the signal fired. */
  async #reread({ hash }: LeaderConfiguration, signal: AbortSignal): Promise<boolean> {
    const { deps, timing } = this.#options;
    while (!signal.aborted) {
      await deps.clock.sleep(timing.rereadMs, signal);
      if (signal.aborted) return false;
      const reading = await this.#read(signal);
      // A member that cannot be read, or whose Secret is wrong for a while, has not changed its leader.
      if (reading.kind === "configured" && reading.configuration.hash !== hash) return true;
      if (reading.kind === "waiting") return true;
    }
    return false;
  }

  async #repeat(everyMs: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await this.#options.deps.clock.sleep(everyMs, signal);
      if (!signal.aborted) await act();
    }
  }

  #cursorWritten: string | undefined;

  /** Never past an event whose import is not stored. */
  async #keepCursor({ queue, source, deps, hold }: SyncParts, watch: LeaderWatch, signal: AbortSignal): Promise<void> {
    const resourceVersion = queue.resumable();
    if (resourceVersion === undefined) return;
    const { cluster, assignment } = this.membership;
    const { listedAt } = watch;
    const said = JSON.stringify([source, resourceVersion, listedAt]);
    if (said === this.#cursorWritten) return;
    const cursor: Cursor = { ...source, resourceVersion, listedAt, assignment, fence: hold.fence };
    const written = await deps.store.writeCursor(cluster, RESOURCE_IMPORTS.resource, cursor, signal);
    if (written.ok && written.value === "written") this.#cursorWritten = said;
  }
}

/** The CA stands for the cluster: a member's identity may read nothing in the leader that would. */
function sourceOf(spec: LeaderConfiguration["spec"], { ca }: Connection): CursorSource {
  const fingerprint = createHash("sha256")
    .update(ca ?? "")
    .digest("base64url");
  return { server: spec.server, namespace: spec.commonArea, clusterID: `${spec.leaderClusterID} ${fingerprint}` };
}

/** When an import that is not at rest is looked at by a window that has just begun, in milliseconds; undefined: not by itself. */
function dueAfter({ state, nextAttemptAt }: ImportRecord, now: number): number | undefined {
  switch (state) {
    case "Failed":
    case "Removing":
    case "Pending":
    case "Conflicted":
    case "WaitingForNamespace":
      return Math.max(0, (nextAttemptAt ?? now) - now);
    case "Applied":
    case "Invalid":
    case "Unsupported":
    case "Excluded":
      return undefined;
  }
}
