declare module "json-merge-patch" {
  /** Applies an RFC 7396 patch; changes `target`. */
  export function apply(target: unknown, patch: unknown): unknown;
}
