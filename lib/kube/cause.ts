import type { Cause } from "../base/cause.ts";
import { never } from "../base/result.ts";
import type { KubeError } from "./errors.ts";

/**
 * Why something does not work, in the one word that conditions, the API and the command line show.
 * A room that knows more than the error does (which object was not found) says so itself.
 */
export function causeOf(error: KubeError): Cause {
  switch (error.kind) {
    case "unauthorized":
      return "CredentialRefused";
    case "forbidden":
      return "PermissionDenied";
    case "tooManyRequests":
      return "Throttled";
    case "webhookDenied":
      return "DeniedByLeaderWebhook";
    case "webhookUnavailable":
      return "LeaderWebhookUnavailable";
    case "timeout":
      return error.phase === "connect" ? "APIServerUnreachable" : "TimedOut";
    case "network":
      return "APIServerUnreachable";
    case "tls":
      return "TLSVerificationFailed";
    case "invalid":
    case "notFound":
      return "ConfigurationInvalid";
    case "conflict":
    case "alreadyExists":
    case "gone":
    case "unavailable":
    case "unexpected":
      return "ServerError";
    default:
      return never(error);
  }
}
