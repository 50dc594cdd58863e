import type { Result } from "../base/result.ts";

/** Names one baton: the right to work `role` for `scope` (a shard, or `cluster#protocol` for the role `lifecycle`). */
export interface BatonKey {
  readonly role: string;
  readonly scope: string;
}

/** Something that is not as it should be, for one cluster of the shard. */
export interface RoundException {
  readonly kind: string;
  /** How many rounds in a row. */
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** The baton as the store holds it. Never deleted. All moments are milliseconds since the epoch, of the writer's wall clock. */
export interface BatonRecord {
  /** Rises with every take; orders the writes of successive holders. */
  readonly fence: number;
  /** Rises with every renewal; a standby that sees it stand still knows that the holder is gone. */
  readonly renewals: number;
  /** Id of the window that holds the baton; absent when it was released. */
  readonly holder?: string;
  readonly expiresAt?: number;
  /** The holder goes on, but wants to be relieved. */
  readonly yielding?: boolean;
  /** A holder that yields releases the baton at this moment, if nobody takes it before. */
  readonly endsAt?: number;
  /** Deployment time of a newer deployment that asks the holder to yield. */
  readonly yieldTo?: number;
  readonly standby?: { readonly id: string; readonly until: number };
  /** Deployment time of the holder's code. */
  readonly deployedAt?: number;
  /** When the last complete round ended. */
  readonly roundAt?: number;
  /** Cluster -> what is wrong. A store may keep some of them beside the record; it counts those in `moreExceptions`. */
  readonly exceptions?: Readonly<Record<string, RoundException>>;
  /** How many exceptions are kept beside the record. */
  readonly moreExceptions?: number;
  /** The newest shard revision that the holder works by. */
  readonly seenRevision?: number;
  /**
   * The newest fence whose window has said that all its work has ended. A holder that took the baton from a living
   * predecessor (`fence - 1`) may write to clusters once this reaches the predecessor's fence, or once the
   * predecessor's validity is over, whichever comes first.
   */
  readonly stoppedFence?: number;
  /** Id of the last write, by which an ambiguous one is recognised. */
  readonly writeId: string;
}

/** Fields to set; `undefined` removes a field. `writeId` is chosen by the caller and must be new. */
export type BatonChange = { readonly [K in keyof Omit<BatonRecord, "writeId">]?: BatonRecord[K] | undefined } & {
  readonly writeId: string;
};

/**
 * What must hold for a change: no record at all, or a record whose named fields are equal (`undefined`: the field must
 * be absent; a name that is not given is not looked at). An expectation that is not `"absent"` is refused when there is
 * no record.
 */
export type BatonExpectation =
  | "absent"
  | ({ readonly [K in "fence" | "renewals" | "holder" | "expiresAt" | "yieldTo"]?: BatonRecord[K] | undefined } & {
      /** Id of the standby that must stand in the record; `null`: there must be none. */
      readonly standbyId?: string | null;
    });

/** The store could not answer; nothing is known about the write unless `kind` is `invalid` or `denied`. */
export interface StoreFailure {
  readonly kind: "throttled" | "timeout" | "unavailable" | "denied" | "invalid";
  readonly message: string;
}

/** Outcome of a conditional change. */
export type BatonChangeResult =
  | { readonly kind: "changed"; readonly record: BatonRecord }
  /** An expectation did not hold: the record that stood there instead. */
  | { readonly kind: "refused"; readonly record: BatonRecord | undefined };

/** Where batons live. Both calls are strongly consistent and end before `signal` fires or shortly after. */
export interface BatonStore {
  read(key: BatonKey, signal: AbortSignal): Promise<Result<BatonRecord | undefined, StoreFailure>>;
  /**
   * Changes the named fields atomically if the expectation holds. A refusal by a record that carries the same `writeId`
   * is a success: the write had arrived, only its answer was lost.
   */
  change(
    key: BatonKey,
    expect: BatonExpectation,
    change: BatonChange,
    signal: AbortSignal,
  ): Promise<Result<BatonChangeResult, StoreFailure>>;
}

/** What tells a holder that the memberships of its shard have changed. */
export interface RevisionSource {
  /** The shard's revision, strongly consistent; 0 when the shard does not exist. */
  readRevision(shard: string, signal: AbortSignal): Promise<Result<number, StoreFailure>>;
}

/** What a working window may know and use of its baton. */
export interface Hold {
  readonly fence: number;
  readonly holder: string;
  /** When the last complete round of the predecessor ended, if there was one. */
  readonly previousRoundAt: number | undefined;
  /** Fires when all work must end: superseded, released, deadline. */
  readonly signal: AbortSignal;
  /**
   * True while this window, and no other, may write to clusters: the last look, just before sending. Turns false 5 s
   * before the expiry. After a handover it turns true only when the predecessor has said that it stopped (or cannot be
   * valid any more), a few seconds after `work` began: beats need not wait for it, see `mayRepeat`.
   */
  mayWrite(): boolean;
  /**
   * True when nobody before this window has a write under way: there was none, or it has said that it stopped. Else one
   * that is paused may send what it had decided on whenever it wakes up, and a record that this window goes by must carry
   * its fence before it is read.
   */
  predecessorStopped(): boolean;
  /**
   * True while this window may do what is harmless when doubled (a beat): from the take on, and, for roles that may,
   * also while the store cannot be reached.
   */
  mayRepeat(): boolean;
  /** To be carried by the next renewal. */
  reportRound(round: {
    readonly roundAt?: number;
    readonly exceptions: Readonly<Record<string, RoundException>>;
    readonly moreExceptions: number;
  }): void;
}

/** The work of a role, as the relay drives it. */
export interface RoleWork {
  /**
   * Reads memberships, credentials and connections. Called before the baton is taken from a living holder (a free baton
   * is taken first, so that the loser of a race asks nothing of any cluster), always before `work`, and again, also
   * while `work` runs, whenever the shard's revision has moved; never twice at a time. `revision` was read before the
   * call, so that a change in between is seen at the next look. A failure is tried again.
   */
  prepare(revision: number, signal: AbortSignal): Promise<Result<void, StoreFailure>>;
  /**
   * Works until `hold.signal` fires, and settles within seconds after; a role that has a task with an end settles when it
   * is done, and the baton is released. Rejects only for bugs. May be called again, with a later fence, after it settled
   * (a hot standby that had held the baton before).
   */
  work(hold: Hold): Promise<void>;
  /** Ends timers, streams and connections. Called once, last, also by a window that never prepared. */
  close(): Promise<void>;
}
