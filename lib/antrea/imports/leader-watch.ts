import { type BackoffPolicy, backoffMs } from "../../base/backoff.ts";
import { deadline } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import { causeOf } from "../../kube/cause.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { WatchEvent } from "../../kube/watch.ts";
import type { Fault } from "../fault.ts";
import { decideBrake, type Held } from "./brake.ts";
import { Claims } from "./claims.ts";
import type { QueuedImport } from "./import-queue.ts";
import { advance } from "./import-record.ts";
import { isSettled } from "./import-worker.ts";
import { decideIntent } from "./intent.ts";
import { listMember } from "./member-list.ts";
import { MemberObjects } from "./member-objects.ts";
import { RESOURCE_IMPORTS, type ResourceImport, readResourceImport } from "./resource-import.ts";
import { findStrays } from "./strays.ts";
import type { SyncParts } from "./sync-parts.ts";

/** A leader that does not answer is asked less and less often. */
const LEADER_RETRY: BackoffPolicy = { baseMs: 1_000, capMs: 30_000 };

/** A watch that ends sooner than this, with nothing in it, is no watch: the next one waits. In milliseconds. */
const LEAST_WATCH_MS = 1_000;

/** Time for a server to end a watch that it was asked to end, in milliseconds. */
const END_GRACE_MS = 1_000;

const WHOLE_NUMBER = /^\d{1,20}$/;

/** What is known of the watch, for its condition. */
export interface WatchHealth {
  /** Failures in a row. */
  readonly failures: number;
  readonly fault: Fault | undefined;
  /** How many imports a complete list would take away, while the brake holds them. */
  readonly held: number;
  /** It has worked since this session began. */
  readonly worked: boolean;
}

/**
 * Follows the ResourceImports of one common area: from a version that is known, or from a complete list that is compared
 * with the member, and with a new complete list every ten minutes. It ends with its signal alone: whatever the leader
 * answers, it is asked again.
 */
export class LeaderWatch {
  readonly #parts: SyncParts;
  /** Where the next watch begins; undefined: with a complete list. */
  #version: string | undefined;
  /** When the last complete list was compared, milliseconds since the epoch. */
  #listedAt: number;
  #compareDueMs: number;
  #held: Held | undefined;
  #failures = 0;
  #fault: Fault | undefined;
  #worked = false;

  /** @param cursor where the last window stopped */
  constructor(parts: SyncParts, cursor: { readonly resourceVersion: string; readonly listedAt: number } | undefined) {
    const { clock } = parts.deps;
    this.#parts = parts;
    this.#version = cursor?.resourceVersion;
    this.#listedAt = cursor?.listedAt ?? 0;
    const ageMs = Math.max(0, clock.now().getTime() - this.#listedAt);
    this.#compareDueMs = clock.monotonicMs() + Math.max(0, parts.timing.compareMs - ageMs);
  }

  get listedAt(): number {
    return this.#listedAt;
  }

  get health(): WatchHealth {
    return {
      failures: this.#failures,
      fault: this.#fault,
      held: this.#held?.gone.size ?? 0,
      worked: this.#worked,
    };
  }

  /** Follows until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const went = await this.step(this.#parts.timing.watchMs, signal);
      if (went.ok) continue;
      await this.#parts.deps.clock.sleep(went.error, signal);
    }
  }

  /**
   * A complete compare if one is due, then one watch.
   * @returns or how long to wait before the next step, in milliseconds
   */
  async step(watchMs: number, signal: AbortSignal): Promise<Result<void, number>> {
    const { clock } = this.#parts.deps;
    if (this.#version === undefined || clock.monotonicMs() >= this.#compareDueMs) {
      const compared = await this.#compare(signal);
      if (signal.aborted) return ok(undefined);
      if (!compared.ok) return failed(this.#failedWith(compared.error));
      this.#works();
    }
    const version = this.#version;
    if (version === undefined) return failed(Math.max(0, this.#compareDueMs - clock.monotonicMs()));
    return await this.#watch(version, watchMs, signal);
  }

  async #watch(version: string, watchMs: number, signal: AbortSignal): Promise<Result<void, number>> {
    const { leader, source, timing, deps } = this.#parts;
    const startedMs = deps.clock.monotonicMs();
    const forMs = Math.max(1_000, Math.min(watchMs, this.#compareDueMs - startedMs));
    // The server is asked to end it; that it does is not relied on.
    using limit = deadline(deps.clock, forMs + END_GRACE_MS, signal);
    const ending = new AbortController();
    const options = {
      resourceVersion: version,
      answerMs: timing.callMs,
      idleMs: timing.idleMs,
      forMs,
      signal: AbortSignal.any([limit.signal, ending.signal]),
    };
    let events = 0;
    const end = await leader.watch(RESOURCE_IMPORTS, source.namespace, options, (event) => {
      if (ending.signal.aborted) return;
      events += 1;
      if (this.#isOfAnotherHistory(event)) {
        this.#version = undefined;
        return ending.abort("the server's history is another one");
      }
      this.#take(event);
      if (this.#failures > 0 || !this.#worked) this.#works();
    });
    if (end.kind === "failed") {
      // Too old, or of another history: everything is listed again, at once.
      if (end.error.kind === "gone") {
        this.#version = undefined;
        return ok(undefined);
      }
      return failed(this.#failedWith(faultOf(end.error), end.error));
    }
    if (end.kind === "ended") this.#works();
    const lastedMs = deps.clock.monotonicMs() - startedMs;
    return events === 0 && lastedMs < LEAST_WATCH_MS && end.kind === "ended" ? failed(LEAST_WATCH_MS) : ok(undefined);
  }

  /**
   * A server that was restored from a backup answers a watch from a version that it has not reached with silence, and
   * then with versions before it. Versions of one server are whole numbers that rise (KEP-5504).
   */
  #isOfAnotherHistory({ resourceVersion }: WatchEvent): boolean {
    const before = this.#version;
    if (before === undefined || !WHOLE_NUMBER.test(before) || !WHOLE_NUMBER.test(resourceVersion)) return false;
    return BigInt(resourceVersion) < BigInt(before);
  }

  #take(event: WatchEvent): void {
    const { queue, records } = this.#parts;
    this.#version = event.resourceVersion;
    const imports = new Map<string, QueuedImport>();
    if (event.kind !== "bookmark") {
      const wanted = readResourceImport(event.object);
      if (event.kind === "deleted") imports.set(wanted.name, { kind: "seen", wanted: undefined, lastSeen: wanted });
      else if (!isSettled(records.get(wanted.name), wanted) || queue.has(wanted.name)) {
        imports.set(wanted.name, { kind: "seen", wanted });
      }
    }
    queue.arrived(event.resourceVersion, imports);
  }

  /** Local objects first, imports second: what is imported between the two is not taken for a stray. */
  async #compare(signal: AbortSignal): Promise<Result<void, Fault>> {
    const { deps, lease, leader, settings, timing, source, membership } = this.#parts;
    const startedMs = deps.clock.monotonicMs();
    const objects = new MemberObjects();
    const local = await lease.use(signal, async (member) => {
      const listed = await listMember({ member, objects, settings, timeoutMs: timing.listMs, signal });
      return listed.ok ? listed : failed(faultOf(listed.error));
    });
    if (!local.ok) return local;
    const listed = await leader.list(RESOURCE_IMPORTS, source.namespace, { timeoutMs: timing.listMs, signal });
    if (!listed.ok) return failed(faultOf(listed.error));
    const imports = new Map(listed.value.items.map(readResourceImport).map((wanted) => [wanted.name, wanted]));
    this.#parts.objects = objects;
    this.#parts.claims = claimsOf(imports, this.#parts);
    await this.#enqueue(imports, listed.value.resourceVersion, signal);
    deps.telemetry.compared({
      cluster: membership.cluster,
      imports: imports.size,
      ms: deps.clock.monotonicMs() - startedMs,
    });
    return ok(undefined);
  }

  async #enqueue(imports: ReadonlyMap<string, ResourceImport>, version: string, signal: AbortSignal): Promise<void> {
    const { queue, records, objects, settings, deps, membership, hold } = this.#parts;
    const { clock } = deps;
    const gone = new Set([...records.keys()].filter((name) => !imports.has(name)));
    const strays = findStrays(objects, imports.values(), records.values(), settings);
    for (const { name } of strays) gone.add(name);
    const nowMs = clock.monotonicMs();
    const brake = decideBrake({ gone, known: records.size + strays.length }, this.#held, nowMs);
    const going = brake.kind === "go" ? brake.gone : new Set<string>();
    const stamp = { assignment: membership.assignment, fence: hold.fence, now: clock.now().getTime() };
    for (const stray of strays) {
      if (going.has(stray.name)) records.set(stray.name, advance(undefined, stray, stamp));
    }
    const work = new Map<string, QueuedImport>();
    for (const [name, wanted] of imports) work.set(name, { kind: "seen", wanted });
    for (const name of going) work.set(name, { kind: "seen", wanted: undefined });
    queue.restart(version, work);
    this.#held = brake.kind === "hold" ? brake.held : undefined;
    if (brake.kind === "hold") {
      // Nothing may resume behind this list before it is known what of it is true.
      queue.holdBack();
      this.#compareDueMs = nowMs + brake.againMs;
    } else {
      this.#listedAt = stamp.now;
      this.#compareDueMs = nowMs + this.#parts.timing.compareMs;
    }
    this.#version = version;
    if (brake.kind === "go" && brake.confirmed) await this.#tellRemoval(brake.gone.size, signal);
  }

  async #tellRemoval(count: number, signal: AbortSignal): Promise<void> {
    const { deps, membership } = this.#parts;
    const message =
      `${count} imports are removed at once: two complete lists of the leader, a minute apart, ` +
      "have agreed that they are gone";
    deps.telemetry.transition("many imports removed", { cluster: membership.cluster, imports: count });
    const at = deps.clock.now().getTime();
    await deps.store.writeEvent(
      membership.cluster,
      { at, protocol: "antrea", kind: "ManyImportsRemoved", message },
      signal,
    );
  }

  #works(): void {
    this.#failures = 0;
    this.#fault = undefined;
    this.#worked = true;
  }

  #failedWith(fault: Fault, error?: KubeError): number {
    this.#failures += 1;
    this.#fault = fault;
    const asked = error !== undefined && "retryAfterMs" in error ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(asked, backoffMs(LEADER_RETRY, this.#failures, this.#parts.deps.random));
  }
}

/** Who has the right to what, of all that is asked for at once. */
function claimsOf(imports: ReadonlyMap<string, ResourceImport>, { settings }: SyncParts): Claims {
  const claims = new Claims();
  for (const [name, wanted] of imports) {
    const intent = decideIntent({ wanted }, settings);
    if (intent.kind !== "install") continue;
    claims.set(name, { kind: wanted.kind, target: intent.of.target(wanted, settings) });
  }
  return claims;
}

function faultOf(error: KubeError): Fault {
  return { cause: causeOf(error), message: error.message };
}
