/** What a running world tells; `up --json` prints one a line. Times are RFC 3339, durations milliseconds. */
export type WorldEvent =
  | { readonly event: "progress"; readonly at: string; readonly message: string }
  | { readonly event: "joined"; readonly at: string; readonly cluster: string; readonly answer: unknown }
  | { readonly event: "notJoined"; readonly at: string; readonly cluster: string; readonly problem: string }
  | { readonly event: "beat"; readonly at: string; readonly cluster: string; readonly latenessMs: number }
  | {
      readonly event: "window";
      readonly at: string;
      readonly role: string;
      readonly shard: string;
      readonly holder: string;
      readonly fence: number;
      readonly yielding: boolean;
    }
  | {
      readonly event: "condition";
      readonly at: string;
      readonly cluster: string;
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }
  | {
      readonly event: "import";
      readonly at: string;
      readonly cluster: string;
      readonly name: string;
      readonly kind: string;
      readonly target: string;
      readonly state: string;
      readonly error?: string;
    }
  | { readonly event: "summary"; readonly memberships: readonly MembershipSummary[] };

/** One membership at the end. The counts come from the leader's side, not from the sender's belief. */
export interface MembershipSummary {
  readonly cluster: string;
  readonly protocol: "antrea" | "ocm";
  /** By the leader's own rule. */
  readonly connected: boolean;
  readonly beats: number;
  /** Grid points without a success within 10 s. */
  readonly missed: number;
  readonly maxLatenessMs: number;
  /** Longest time between two successes. */
  readonly maxGapMs: number;
  readonly conditions: readonly unknown[];
}
