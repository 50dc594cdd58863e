/** What the table can answer other than success or a refused condition. */
export interface StateError {
  /**
   * `throttled`, `timeout`, `unavailable`: the outcome is unknown, to be tried again; `denied`: IAM, a person must act;
   * `invalid`: the request or the table is wrong (missing table, item too large, newer schema).
   */
  readonly kind: "throttled" | "timeout" | "unavailable" | "denied" | "invalid";
  /** What was tried and what came back; no item content. */
  readonly message: string;
}
