import { type BackoffPolicy, backoffMs } from "../../base/backoff.ts";
import { never, ok, type Result } from "../../base/result.ts";
import { causeOf } from "../../kube/cause.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { ImportRecord, ImportState } from "../../state/imports.ts";
import type { Fault } from "../fault.ts";
import type { QueuedImport } from "./import-queue.ts";
import {
  advance,
  beginning,
  failedRecord,
  removalEvent,
  type Stamp,
  saysTheSame,
  transitionEvent,
} from "./import-record.ts";
import { reconcileImport } from "./reconcile-import.ts";
import type { ImportContext, ImportOutcome, ImportRequest } from "./reconciler.ts";
import { RESOURCE_IMPORTS, type ResourceImport, readResourceImport } from "./resource-import.ts";
import type { SyncParts } from "./sync-parts.ts";
import type { SyncedMember } from "./sync-ports.ts";

/** A member that does not answer is left alone for longer and longer. */
const MEMBER_PAUSE: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };

/** How often it is looked whether this window may write already, in milliseconds. */
const MAY_WRITE_MS = 250;

/** Errors of the way to a server, whatever is asked. */
const OF_THE_WAY: ReadonlySet<KubeError["kind"]> = new Set(["network", "tls", "tooManyRequests", "unauthorized"]);

/** Errors that may be one object's (a webhook that hangs for it alone) or the whole server's. */
const OF_EITHER: ReadonlySet<KubeError["kind"]> = new Set(["timeout", "unavailable", "unexpected"]);

/** So many of those in a row, without a success between them, are the server's. */
const SERVERS_FAULT = 3;

/** Whether the import's affair is at its end, for now. */
type Conclusion = "finished" | "again";

/**
 * Works the imports of one member off, a few at a time: what came last of each, with the record in the table before and
 * after. One that fails waits for its own time; a member that does not answer is left alone as a whole.
 */
export class ImportWorker {
  readonly #parts: SyncParts;
  #pausedUntilMs = Number.NEGATIVE_INFINITY;
  #pauses = 0;
  #unsure = 0;
  /** Why the member is left alone. */
  fault: Fault | undefined;

  constructor(parts: SyncParts) {
    this.#parts = parts;
  }

  /** Works until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    const { concurrency } = this.#parts.timing;
    await Promise.all(Array.from({ length: concurrency }, async () => await this.#work(signal)));
  }

  async #work(signal: AbortSignal): Promise<void> {
    const { clock, telemetry } = this.#parts.deps;
    const { queue, hold, membership } = this.#parts;
    while (!signal.aborted) {
      const waitMs = hold.mayWrite() ? this.#pausedUntilMs - clock.monotonicMs() : MAY_WRITE_MS;
      if (waitMs > 0) {
        await clock.sleep(waitMs, signal);
        continue;
      }
      const next = queue.take();
      if (next === undefined) {
        await queue.change(signal);
        continue;
      }
      const [name, queued] = next;
      const conclusion = await this.#process(name, queued, signal).catch((error: unknown): Conclusion => {
        telemetry.bug(error, membership.cluster);
        queue.lookAfter(name, MEMBER_PAUSE.capMs);
        return "finished";
      });
      if (conclusion === "finished") queue.finish(name);
      else queue.giveBack(name, queued);
    }
  }

  async #process(name: string, queued: QueuedImport, signal: AbortSignal): Promise<Conclusion> {
    const { deps, records, lease } = this.#parts;
    const startedMs = deps.clock.monotonicMs();
    const known = await this.#known(name, queued, signal);
    if (!known.ok) return this.#pause(known.error);
    const request = { name, record: records.get(name), ...known.value };
    const used = await lease.use(signal, async (member) => ok(await this.#reconcile(request, member, signal)));
    if (!used.ok) return this.#pause(used.error);
    const { outcome, settled } = used.value;
    const conclusion = await this.#conclude(name, outcome, settled, signal);
    if (conclusion === "finished" && (outcome.kind === "settled" || outcome.kind === "removed")) {
      this.#resume();
      const state = outcome.kind === "settled" ? outcome.next.state : "Removed";
      const ms = deps.clock.monotonicMs() - startedMs;
      deps.telemetry.settled({ cluster: this.#parts.membership.cluster, state, writes: outcome.done.writes, ms });
    }
    return conclusion;
  }

  /** What the leader says of it; what waited or failed is asked for again. */
  async #known(
    name: string,
    queued: QueuedImport,
    signal: AbortSignal,
  ): Promise<Result<Pick<ImportRequest, "wanted" | "lastSeen">, Fault>> {
    if (queued.kind === "seen") {
      const { wanted, lastSeen } = queued;
      return ok(lastSeen === undefined ? { wanted } : { wanted, lastSeen });
    }
    // What no import asks for any more has a name that none can have.
    if (name.includes("/")) return ok({ wanted: undefined });
    const { leader, source, timing } = this.#parts;
    const ref = { type: RESOURCE_IMPORTS, namespace: source.namespace, name };
    const found = await leader.get(ref, { timeoutMs: timing.callMs, signal });
    if (found.ok) return ok({ wanted: readResourceImport(found.value.object) });
    if (found.error.kind === "notFound") return ok({ wanted: undefined });
    return { ok: false, error: { cause: causeOf(found.error), message: found.error.message } };
  }

  /** Turns the import round until it is at rest. `settled`: the last state that people were told of. */
  async #reconcile(
    request: ImportRequest,
    member: SyncedMember,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: ImportOutcome; readonly settled: ImportState | undefined }> {
    const settled = request.record?.state;
    const context = this.#context(member, signal);
    let planned = beginning(request, context.settings);
    let record = request.record;
    for (;;) {
      if (planned !== undefined) {
        const written = await this.#write(advance(record, planned, this.#stamp()), undefined, signal);
        if (!written) return { outcome: { kind: "halted", done: { writes: 0, released: [] } }, settled };
        record = this.#parts.records.get(request.name);
      }
      const outcome = await reconcileImport({ ...request, record }, context);
      if (!(outcome.kind === "settled" && outcome.afterMs === 0)) return { outcome, settled };
      planned = outcome.next;
    }
  }

  async #conclude(
    name: string,
    outcome: ImportOutcome,
    settled: ImportState | undefined,
    signal: AbortSignal,
  ): Promise<Conclusion> {
    const { records, queue, deps } = this.#parts;
    const before = records.get(name);
    const stamp = this.#stamp();
    switch (outcome.kind) {
      case "halted":
        return "again";
      case "ignored":
        return before === undefined || (await this.#delete(name, before, outcome, signal)) ? "finished" : "again";
      case "removed":
        return before === undefined || (await this.#delete(name, before, outcome, signal)) ? "finished" : "again";
      case "settled": {
        const next = advance(before, outcome.next, stamp);
        const event = transitionEvent(settled, next, outcome, stamp.now);
        if (!saysTheSame(before, next) && !(await this.#write(next, event, signal))) return "again";
        if (outcome.afterMs !== undefined) queue.lookAfter(name, outcome.afterMs);
        return "finished";
      }
      case "failed": {
        const { error } = outcome;
        if (this.#isOfTheMember(error)) {
          return this.#pause({ cause: causeOf(error), message: error.message }, waitOf(error));
        }
        const next = failedRecord(before, outcome, stamp, deps.random);
        const event = transitionEvent(settled, next, outcome, stamp.now);
        if (!(await this.#write(next, event, signal))) return "again";
        queue.lookAfter(name, next.nextAttemptAt - stamp.now);
        return "finished";
      }
      default:
        return never(outcome);
    }
  }

  /** False: it is not in the table, and to be done again. */
  async #write(record: ImportRecord, event: ReturnType<typeof transitionEvent>, signal: AbortSignal): Promise<boolean> {
    const { deps, membership, records } = this.#parts;
    const { cluster } = membership;
    const written = await deps.store.writeImport(cluster, record, event, signal);
    if (!written.ok) return this.#tableFault(written.error);
    if (written.value === "outdated") return this.#outdated();
    records.set(record.name, record);
    if (event !== undefined) this.#tell(event.kind, record);
    return true;
  }

  async #delete(
    name: string,
    before: ImportRecord,
    outcome: Extract<ImportOutcome, { kind: "removed" | "ignored" }>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { deps, membership, records } = this.#parts;
    const { now, ...by } = this.#stamp();
    const done = outcome.kind === "removed" ? outcome.done : { writes: 0, released: [] };
    const told = before.objects.length > 0 || done.writes > 0 || done.released.length > 0;
    const event = told ? removalEvent(before, done.released, now) : undefined;
    const deleted = await deps.store.deleteImport(membership.cluster, name, by, event, signal);
    if (!deleted.ok) return this.#tableFault(deleted.error);
    if (deleted.value === "outdated") return this.#outdated();
    records.delete(name);
    if (event !== undefined) this.#tell(event.kind, before);
    return true;
  }

  #tell(kind: string, { name, kind: importKind }: Pick<ImportRecord, "name" | "kind">): void {
    const { deps, membership } = this.#parts;
    const facts = { cluster: membership.cluster, outcome: kind, import: name, kind: importKind };
    deps.telemetry.transition("import changed", facts);
  }

  #context(member: SyncedMember, signal: AbortSignal): ImportContext {
    const { leader, objects, claims, settings, deps, timing, hold } = this.#parts;
    const { clock } = deps;
    const mayWrite = (): boolean => hold.mayWrite();
    return { member, leader, objects, claims, settings, clock, timeoutMs: timing.callMs, signal, mayWrite };
  }

  #stamp(): Stamp {
    const { membership, hold, deps } = this.#parts;
    return { assignment: membership.assignment, fence: hold.fence, now: deps.clock.now().getTime() };
  }

  #tableFault({ message }: { readonly message: string }): false {
    this.#pause({ cause: "ServerError", message });
    return false;
  }

  /** A later holder has been here: this one has nothing to say any more. */
  #outdated(): false {
    this.#parts.supersede();
    return false;
  }

  #pause(fault: Fault, atLeastMs = 0): "again" {
    const { clock, random } = this.#parts.deps;
    // What is under way side by side meets the same: one pause for all.
    if (this.#pausedUntilMs <= clock.monotonicMs()) {
      this.#pauses += 1;
      this.#pausedUntilMs = clock.monotonicMs() + Math.max(atLeastMs, backoffMs(MEMBER_PAUSE, this.#pauses, random));
    }
    this.fault = fault;
    return "again";
  }

  #isOfTheMember(error: KubeError): boolean {
    if (error.cluster !== this.#parts.membership.cluster) return false;
    if (OF_EITHER.has(error.kind)) this.#unsure += 1;
    return OF_THE_WAY.has(error.kind) || this.#unsure >= SERVERS_FAULT;
  }

  #resume(): void {
    this.#pauses = 0;
    this.#unsure = 0;
    this.fault = undefined;
  }
}

function waitOf(error: KubeError): number {
  return "retryAfterMs" in error ? (error.retryAfterMs ?? 0) : 0;
}

/** What a settled import asks for again, and nothing else, is nothing new. */
export function isSettled(record: ImportRecord | undefined, wanted: ResourceImport): boolean {
  return record?.state === "Applied" && record.appliedHash === wanted.hash;
}
