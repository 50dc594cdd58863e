// dynalite ships no types. Only what the table uses is declared; the version is pinned because these are its inner modules.

declare module "dynalite/db/index.js" {
  /** An error that dynalite makes for the client has `statusCode` and `body`; any other one is a bug. */
  export interface DynaliteError extends Error {
    readonly statusCode?: number;
    readonly body?: Record<string, unknown>;
  }

  export interface Store {
    readonly lifecycleManager: { gracefulClose(): Promise<void> };
  }

  const db: {
    create(options: { path?: string; createTableMs?: number; deleteTableMs?: number; updateTableMs?: number }): Store;
    checkConditional(
      data: Record<string, unknown>,
      item: Record<string, unknown> | undefined,
    ): DynaliteError | null | undefined;
    itemSize(item: Record<string, unknown>): number;
  };
  export default db;
}

declare module "dynalite/validations/index.js" {
  const validations: {
    /** Throws a DynaliteError. Takes unknown fields out of `data` itself. */
    checkTypes(data: Record<string, unknown>, types: unknown): Record<string, unknown>;
    /** Throws a DynaliteError. Adds the parsed expressions to `data`. */
    checkValidations(data: Record<string, unknown>, types: unknown, custom: unknown, store: unknown): void;
  };
  export default validations;
}
