import type { Clock } from "../base/clock.ts";
import type { Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { CredentialStore } from "../credentials/store.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import type { KubeError } from "../kube/errors.ts";
import type { CursorStore } from "../state/cursor-store.ts";
import type { ImportStore } from "../state/import-store.ts";
import type { Access } from "../state/membership.ts";
import type { ImportMember } from "./imports/reconciler.ts";
import type { MemberCluster } from "./ports.ts";

/** The member, seen with the access that its membership names, by someone who also takes away. Closed after use. */
export type LeavingMember = MemberCluster & ImportMember;

/** What the table says of what was imported. */
export type ImportLedger = Pick<ImportStore, "listImports" | "deleteImport"> & Pick<CursorStore, "deleteCursor">;

/** The leader, seen with the credential that was kept. Closed after use. */
export type LeaderToLeave = Pick<KubeClient, "cluster" | "get" | "delete" | "close">;

/** Makes clients. Neither call sends anything to the cluster. */
export interface LeaveConnector {
  connectMember(
    member: { readonly cluster: string; readonly access: Access },
    signal: AbortSignal,
  ): Promise<Result<LeavingMember, KubeError | UserError>>;
  /** @param cluster the leader's name in messages */
  connectLeader(cluster: string, connection: Connection): LeaderToLeave;
}

/** What leaving works with. */
export interface LeaveDependencies {
  readonly clock: Clock;
  readonly connector: LeaveConnector;
  readonly credentials: Pick<CredentialStore, "read">;
  readonly imports: ImportLedger;
  /** Prefix of the parameters that Hawser itself keeps. */
  readonly parameterPrefix: string;
  /** All that is done in the member, and all that is done in the leader, in milliseconds each. */
  readonly timeoutMs: number;
}
