import type { Cause } from "../base/cause.ts";
import type { UserError } from "../base/user-error.ts";
import { causeOf } from "../kube/cause.ts";
import type { KubeError } from "../kube/errors.ts";

/** Why a membership cannot beat: one word for machines, a sentence for people (at most 4,096 bytes, never a secret). */
export interface Fault {
  readonly cause: Cause;
  readonly message: string;
}

/** The fault behind an error of the member's API server. */
export function memberFault(error: KubeError): Fault {
  return { cause: causeOf(error), message: error.message };
}

/**
 * The fault behind an error of the leader's API server. An announce that is missing is made: what is still not found
 * then is the Namespace around it.
 */
export function leaderFault(error: KubeError): Fault {
  return { cause: error.kind === "notFound" ? "CommonAreaNotFound" : causeOf(error), message: error.message };
}

/** The fault behind a mistake in what the user gave us to read. */
export function userFault({ path, problem, remedy }: UserError): Fault {
  return { cause: "ConfigurationInvalid", message: `${path}: ${problem}. ${remedy}` };
}
