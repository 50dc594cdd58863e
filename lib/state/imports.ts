/** An object that an import made in the member; deleted later only with this UID. */
export interface ImportedObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

/** The states of an import. */
export const IMPORT_STATES = [
  "Applied",
  "Pending",
  "Conflicted",
  "Invalid",
  "Unsupported",
  "WaitingForNamespace",
  "Excluded",
  "Failed",
  "Removing",
] as const;

/** One of {@link IMPORT_STATES}. */
export type ImportState = (typeof IMPORT_STATES)[number];

/** What Hawser knows of one ResourceImport of the leader. All moments are milliseconds since the epoch. */
export interface ImportRecord {
  /** `metadata.name` of the ResourceImport. */
  readonly name: string;
  /** Its `spec.kind`: an import that is deleted while nothing runs is removed by what stands here. */
  readonly kind: string;
  /** What it is about in the member: `spec.namespace` and `spec.name`. */
  readonly target: { readonly namespace?: string; readonly name: string };
  /** What it made, in the order of making. */
  readonly objects: readonly ImportedObject[];
  /** Hash of what was applied; absent while nothing was. */
  readonly appliedHash?: string;
  readonly state: ImportState;
  readonly since: number;
  readonly attempts: number;
  readonly nextAttemptAt?: number;
  /** At most 4,096 bytes. */
  readonly error?: string;
  readonly assignment: number;
  readonly fence: number;
}
