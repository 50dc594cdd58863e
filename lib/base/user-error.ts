/**
 * A mistake of the user: shown without a stack.
 * `path` names the field (`memberships[1].access.kubeconfig`), `remedy` says what to do.
 */
export interface UserError {
  readonly path: string;
  readonly problem: string;
  readonly remedy: string;
}

/** The user's mistakes as text, one line each. */
export function describeUserErrors(errors: readonly UserError[]): string {
  return errors.map((e) => `${e.path === "" ? "(document)" : e.path}: ${e.problem}. ${e.remedy}`).join("\n");
}
