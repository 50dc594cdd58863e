import { isDeepStrictEqual } from "node:util";
import type { Membership } from "../state/membership.ts";
import type { ConfigurationStatement } from "./announce-configuration.ts";
import type { LeaderToKeep } from "./announce-keep.ts";
import type { Rival } from "./announce-rival.ts";
import type { LeaderTarget } from "./cluster-set.ts";
import type { ObservedClusterSet } from "./cluster-set-status.ts";
import {
  type Connectivity,
  type ConnectivityObservation,
  decideConnectivity,
  initialConnectivity,
} from "./connectivity.ts";
import type { Fault } from "./fault.ts";
import type { ConnectivityType } from "./names.ts";
import type { LeaderCluster } from "./ports.ts";
import { publish } from "./publication.ts";

/** Kinds of work for one membership that may be under way side by side. */
export type JobKind = "beat" | "chance" | "look" | "table" | "status" | "keep" | "departure" | "withdraw";

/** A fault and since when there is one, in milliseconds since the epoch. */
export interface StandingFault {
  readonly fault: Fault;
  readonly since: number;
}

/** Why the member's last word is not in force while an older connection goes on. */
export interface ReadFault extends StandingFault {
  /** The leader does not take it; a person must mend it; the member could not be read. */
  readonly kind: "refused" | "misconfigured" | "unread";
}

/** The latest fault, dated by the first of its row. */
export function standing(before: StandingFault | undefined, fault: Fault, now: number): StandingFault {
  return { fault, since: before?.since ?? now };
}

/** The connection that is beaten to. */
export interface LeaderLink {
  readonly spec: LeaderTarget;
  readonly client: LeaderCluster;
  /** Of what the client was made from; the secret itself is not kept here. */
  readonly hash: string;
  /** UID of the ClusterSet that named the leader. */
  readonly clusterSetUid: string;
  /** The leader has taken a beat of it: there may be an announce to take back. */
  announced: boolean;
  /** `touch-ts` of the last beat. */
  touchTs: string | undefined;
  /** The last beats were answered late or not at all: it has the whole time of a beat for one answer. */
  slow: boolean;
  /** What is to be kept of it once it has taken a beat; holds a secret, and goes when that is done. */
  toKeep: LeaderToKeep | undefined;
}

/** A connection whose announce is to be taken back: when that is tried next, monotonic, and whether people were told of a failure. */
export interface ReplacedLink {
  readonly link: LeaderLink;
  readonly dueMs: number;
  readonly told: boolean;
}

/** True when both lead to the same member in the same way: what was read for one holds for the other. */
export function leadsToTheSame(a: Membership, b: Membership): boolean {
  return a.assignment === b.assignment && isDeepStrictEqual([a.access, a.antrea], [b.access, b.antrea]);
}

/** What was seen, or that a new connection began, in order. */
type Happening = (ConnectivityObservation | { readonly kind: "restarted" }) & { readonly at: number };

/** How many happenings are kept until the table has told what was before. */
const KEPT_HAPPENINGS = 20;

/**
 * What the role remembers of one membership. Small, as there may be thousands; everything in it can be read again.
 *
 * Connectivity has two layers: `live` is the truth after the last beat, `published` what the table and the member's
 * ClusterSet are to show. Both are unknown until the table's own view has been read under the present fence
 * (`begin`): deciding from a view older than the predecessor's last write would hide that write for ever. What happens
 * before that is kept and replayed.
 */
export class AnnouncedMembership {
  membership: Membership;
  /** Ends what is under way for this membership alone. */
  controller = new AbortController();
  link: LeaderLink | undefined;
  /** A connection of another identity, whose announce is to be taken back before it is closed. */
  replaced: ReplacedLink | undefined;
  /** It is paused: nothing is sent to its leader, and its member is not looked at. */
  resting = false;
  clusterSet: ObservedClusterSet | undefined;
  /** Looks in a row that found no ClusterSet. */
  missing = 0;
  /** It has been waiting for a ClusterSet: the next connection is a new one. */
  waited = false;
  /** The ClusterSet that was served has gone, and the table does not say so yet. */
  departureOwed = false;
  /** Why the last look at the member gave nothing to beat with, while an older connection goes on. */
  readFault: ReadFault | undefined;
  /** What was kept of the leader has been asked for in this window. */
  fellBack = false;
  /** When the member is to be looked at again, monotonic. */
  readDueMs = Number.NEGATIVE_INFINITY;
  /** Until when the leader asked to be left alone, monotonic. */
  deferredUntilMs = Number.NEGATIVE_INFINITY;
  /** When a leader that asked for it is asked once more, off the grid, monotonic. */
  lastChanceMs: number | undefined;
  /** Another agent that announces the same member, and when it is looked for again, monotonic. */
  rival: Rival | undefined;
  rivalDueMs = Number.NEGATIVE_INFINITY;
  /** When the last beat succeeded, monotonic. */
  succeededMs: number | undefined;
  /** Failures in a row: why the last one, how many, since when (milliseconds since the epoch). */
  failing: (StandingFault & { readonly count: number }) | undefined;
  connectedOnce: boolean;
  /** The ClusterSet's status may differ from what it should be. */
  statusDirty = true;
  /** When a refused status write is tried again, monotonic, and why it was refused. */
  statusRetryMs = Number.NEGATIVE_INFINITY;
  statusFault: StandingFault | undefined;
  /** What the table is known to say of the configuration; undefined where it says nothing. */
  configuration: ConfigurationStatement | undefined;
  /** What the table is known to hold, by type: the condition as it was published. */
  written = new Map<ConnectivityType, Connectivity["ready"]>();
  /** Work under way, at most one of a kind at a time. */
  readonly jobs = new Map<JobKind, Promise<void>>();

  #live: Connectivity | undefined;
  #published: Connectivity | undefined;
  #happenings: Happening[] = [];

  constructor(membership: Membership) {
    this.membership = membership;
    this.connectedOnce = membership.connectedOnce;
  }

  /** `undefined` until the table's view is known. */
  get published(): Connectivity | undefined {
    return this.#published;
  }

  /** A new hold: what the table shows must be read again. */
  forgetTable(): void {
    this.#live = undefined;
    this.#published = undefined;
    this.#happenings = [];
    this.written.clear();
    this.configuration = undefined;
    this.statusDirty = true;
  }

  /** The table's view, read under the present fence; `undefined` where it has none yet. */
  begin(table: Connectivity | undefined, now: number): void {
    this.#live = table;
    this.#published = table;
    if (table !== undefined) {
      this.written.set("Ready", table.ready).set("IsLeader", table.isLeader);
    }
    const happenings = this.#happenings;
    this.#happenings = [];
    for (const happening of happenings) this.#apply(happening);
    if (this.#live === undefined) this.#apply({ kind: "restarted", at: now });
  }

  observe(observation: ConnectivityObservation, now: number): void {
    this.#count(observation, now);
    this.#happen({ ...observation, at: now });
  }

  /** A new connection: another leader, or another ClusterSet. */
  restart(now: number): void {
    this.failing = undefined;
    this.waited = false;
    this.#happen({ kind: "restarted", at: now });
  }

  #happen(happening: Happening): void {
    if (this.#live !== undefined) {
      this.#apply(happening);
      return;
    }
    this.#happenings.push(happening);
    if (this.#happenings.length > KEPT_HAPPENINGS) this.#happenings.shift();
  }

  #apply(happening: Happening): void {
    const { at } = happening;
    this.#live =
      happening.kind === "restarted"
        ? initialConnectivity(at)
        : decideConnectivity(this.#live, happening, at, this.membership.options);
    const published = publish(this.#published, this.#live, at);
    if (published === this.#published) return;
    this.#published = published;
    this.statusDirty = true;
  }

  #count(observation: ConnectivityObservation, now: number): void {
    if (observation.kind === "paused") {
      this.failing = undefined;
      return;
    }
    if (observation.kind === "announced") {
      this.failing = observation.mismatch === undefined ? undefined : this.#another(observation.mismatch, now);
      return;
    }
    this.failing = this.#another(observation.fault, now);
  }

  #another(fault: Fault, now: number): NonNullable<AnnouncedMembership["failing"]> {
    return { ...standing(this.failing, fault, now), count: (this.failing?.count ?? 0) + 1 };
  }
}
