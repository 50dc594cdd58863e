import type { Cause } from "../base/cause.ts";
import type { UserError } from "../base/user-error.ts";
import { causeOf } from "../kube/cause.ts";
import type { KubeError } from "../kube/errors.ts";

/** What a check has found. No text of it holds a secret. */
export type Finding<T> =
  | {
      readonly kind: "passed";
      readonly value: T;
      /** What came back. */
      readonly came: string;
    }
  | {
      readonly kind: "failed";
      readonly cause: Cause;
      readonly came: string;
      /** What to do; a command where there is one. */
      readonly remedy: string;
      /** What other checks can go on with all the same. */
      readonly known?: T;
    }
  /** It makes no sense, or is not possible, to ask. */
  | { readonly kind: "notAsked"; readonly because: string };

/** All is well. */
export function passed<T>(value: T, came: string): Finding<T> {
  return { kind: "passed", value, came };
}

/** Something is wrong. */
export function wrong(
  cause: Cause,
  came: string,
  remedy: string,
): Extract<Finding<never>, { readonly kind: "failed" }> {
  return { kind: "failed", cause, came, remedy };
}

/** What an API server answered, or did not. What was tried stands beside it already. */
export function refused(error: KubeError, remedy: string): Finding<never> {
  const tried = `${error.operation} ${error.object}: `;
  const came = error.message.startsWith(tried) ? error.message.slice(tried.length) : error.message;
  return { kind: "failed", cause: causeOf(error), came, remedy };
}

/** A mistake in what the user wrote. */
export function mistaken({ path, problem, remedy }: UserError): Finding<never> {
  return { kind: "failed", cause: "ConfigurationInvalid", came: `${path}: ${problem}`, remedy };
}
