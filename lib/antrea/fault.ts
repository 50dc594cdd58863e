import type { Cause } from "../base/cause.ts";
import { never } from "../base/result.ts";
import type { KubeError } from "../kube/errors.ts";

/** Why a membership cannot beat: one word for machines, a sentence for people (at most 4,096 bytes, never a secret). */
export interface Fault {
  readonly cause: Cause;
  readonly message: string;
}

/** Which of the two clusters of a membership was asked. */
export type Side = "leader" | "member";

/** The fault behind an error of one of the two API servers. */
export function faultOf(error: KubeError, side: Side): Fault {
  return { cause: causeOf(error, side), message: error.message };
}

function causeOf(error: KubeError, side: Side): Cause {
  switch (error.kind) {
    case "unauthorized":
      return "CredentialRefused";
    case "forbidden":
      return "PermissionDenied";
    case "notFound":
      // The announce itself is made when it is missing: what is still missing then is the Namespace around it.
      return side === "leader" ? "CommonAreaNotFound" : "ConfigurationInvalid";
    case "invalid":
      return "ConfigurationInvalid";
    case "tooManyRequests":
      return "Throttled";
    case "webhookDenied":
      return "DeniedByLeaderWebhook";
    case "webhookUnavailable":
      return "LeaderWebhookUnavailable";
    case "timeout":
      return "TimedOut";
    case "network":
      return "APIServerUnreachable";
    case "tls":
      return "TLSVerificationFailed";
    case "unavailable":
      // 502 to 504 come from what stands in front of an API server that does not answer, 500 from the server itself.
      return error.status >= 502 && error.status <= 504 ? "APIServerUnreachable" : "ServerError";
    case "conflict":
    case "alreadyExists":
    case "gone":
    case "unexpected":
      return "ServerError";
    default:
      return never(error);
  }
}
