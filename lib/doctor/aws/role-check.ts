/** The role whose beats keep an Antrea member connected. */
export const BEATING_ROLE = "announce";

/** The name of a check of a role's: that of the beating one needs no prefix. */
export function checkOf(role: string, check: string): string {
  return role === BEATING_ROLE ? check : `${role}-${check}`;
}
