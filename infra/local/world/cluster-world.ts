/** A member of a world, simulated or real. */
export interface WorldMember {
  readonly cluster: string;
  readonly protocol: "antrea";
  /** Name of its MemberClusterAnnounce in the leader. */
  readonly announce: string;
  /** Text of the kubeconfig that Hawser uses in the member. */
  readonly kubeconfig: string;
  readonly context?: string;
  readonly antrea: { readonly namespace: string; readonly clusterSet?: string };
}

/** The clusters of a world. */
export interface ClusterWorld {
  readonly members: readonly WorldMember[];
  /** Whether the leader counts the member as connected, by its own rule. */
  isConnected(member: WorldMember): boolean;
  stop(): Promise<void>;
}
