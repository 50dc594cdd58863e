/** What a resourceVersion belongs to. It means nothing anywhere else. */
export interface CursorSource {
  /** URL of the API server. */
  readonly server: string;
  readonly namespace: string;
  /** Which cluster answers there: the UID of its `kube-system` Namespace, or the best identity that can be read. */
  readonly clusterID: string;
}

/** Where a watch resumes. All moments are milliseconds since the epoch. */
export interface Cursor extends CursorSource {
  readonly resourceVersion: string;
  /** When the last complete list was compared. */
  readonly listedAt: number;
  readonly assignment: number;
  readonly fence: number;
}

/**
 * Whether a watch may resume from `cursor`: only at the same server, Namespace and cluster. After a change of any, the
 * resourceVersion is void and everything is listed again.
 */
export function cursorHolds(cursor: Cursor, source: CursorSource): boolean {
  return (
    cursor.server === source.server && cursor.namespace === source.namespace && cursor.clusterID === source.clusterID
  );
}
