import { decideEntry, planClaimRefresh } from "./baton.ts";
import { decideYield, isMine, planRelease, planRenewal, planStopped } from "./hold-rules.ts";

/** The decisions of the relay, as a window uses them: a parameter, so that a test can show what each one is needed for. */
export interface RelayRules {
  readonly decideEntry: typeof decideEntry;
  readonly planClaimRefresh: typeof planClaimRefresh;
  readonly decideYield: typeof decideYield;
  readonly planRenewal: typeof planRenewal;
  readonly isMine: typeof isMine;
  readonly planRelease: typeof planRelease;
  readonly planStopped: typeof planStopped;
}

/** The rules as they are. */
export const RELAY_RULES: RelayRules = {
  decideEntry,
  planClaimRefresh,
  decideYield,
  planRenewal,
  isMine,
  planRelease,
  planStopped,
};
