/** What a credential store can answer other than a success. */
export interface CredentialError {
  /**
   * `notFound`: nothing lies there; `denied`: a person must grant access; `invalid`: what lies there, or the reference,
   * cannot be used; `throttled`, `timeout`, `unavailable`: to be tried again, nothing is known about a write.
   */
  readonly kind: "notFound" | "denied" | "invalid" | "throttled" | "timeout" | "unavailable";
  /** What was tried and what came back. Never a secret. */
  readonly problem: string;
  readonly remedy: string;
}
