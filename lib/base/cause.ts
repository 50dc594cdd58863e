/**
 * Why something does not work, in one word: what conditions, the API and the command line show beside the reason that
 * the wire knows.
 */
export const CAUSES = [
  "APIServerUnreachable",
  "TLSVerificationFailed",
  "CredentialRefused",
  "PermissionDenied",
  "LeaderWebhookUnavailable",
  "DeniedByLeaderWebhook",
  "Throttled",
  "TimedOut",
  "ConfigurationInvalid",
  "CommonAreaNotFound",
  "ClusterSetMissing",
  "ClockOutOfSync",
  "ServerError",
] as const;

/** One of {@link CAUSES}. */
export type Cause = (typeof CAUSES)[number];
