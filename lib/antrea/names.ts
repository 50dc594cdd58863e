/** Names and times that Antrea Multi-cluster fixes on the wire; another controller or a person reads them. */

/** The leader takes the time of a member's last beat from this annotation of its announce (RFC 3339). */
export const TOUCH_ANNOTATION = "touch-ts";

/** One beat each interval, in milliseconds. */
export const ANNOUNCE_INTERVAL_MS = 10_000;

/** The leader calls a member disconnected when its last announce is older than this, in milliseconds. */
export const LEADER_CONNECTION_TIMEOUT_MS = 30_000;

/** The condition area of the role `announce`; the role is its only writer. */
export const ANNOUNCE_AREA = "announce";

/** Types of the conditions that a member keeps for its leader, in the order in which they are reported. */
export const CONNECTIVITY_TYPES = ["Ready", "IsLeader"] as const;

/** One of {@link CONNECTIVITY_TYPES}. */
export type ConnectivityType = (typeof CONNECTIVITY_TYPES)[number];

/**
 * Type of the condition that says whether the connection at work is the one that the member names; Hawser's own, in the
 * table alone, and there only once it was not.
 */
export const CONFIGURATION_TYPE = "ConfigurationInForce";

/** The reason of `Ready` while a leader cannot be reached. */
export const REASON_DISCONNECTED = "Disconnected";

/** The reason of `Ready` while a person has asked that nothing be sent; Hawser's own. */
export const REASON_PAUSED = "Paused";

/** Message of `Ready` during a pause. */
export const MESSAGE_PAUSED = "Paused on request: nothing is announced until it is resumed";

/** Message of both conditions before the first beat. */
export const MESSAGE_LEADER_ADDED = "Leader cluster added";

/** Message of `IsLeader` once the leader has shown our announce. */
export const MESSAGE_IS_LEADER = "This leader cluster is the leader for local cluster";

/** Message of the ClusterSet's overall condition while the leader accepts announces but has not shown ours. */
export const MESSAGE_NOT_YET_CONNECTED = "Leader not yet connected";

/** Message of the ClusterSet's overall condition while the leader is not connected. */
export const MESSAGE_DISCONNECTED_FROM_LEADER = "Disconnected from leader";

/** The Namespace whose UID identifies a cluster. */
export const IDENTITY_NAMESPACE = "kube-system";

/** Name of the announce of the member `clusterID`; the leader's webhook accepts no other. */
export function announceName(clusterID: string): string {
  return `member-announce-from-${clusterID}`;
}
