import { createHash } from "node:crypto";
import type { KubeObject } from "../../../lib/kube/client.ts";
import { CLUSTER_SET, COMMON_AREA, LEADER_ID, MEMBER_SECRET, type RunningLeader } from "./protocol.ts";

/** What a member holds: its ClusterSet and the Secret with the leader's credential, in this order. */
export function memberObjects(of: {
  readonly cluster: string;
  readonly namespace: string;
  readonly leader: Pick<RunningLeader, "url" | "caPem">;
  readonly token: string;
}): readonly [KubeObject, KubeObject] {
  const { cluster, namespace, leader, token } = of;
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  return [
    {
      apiVersion: "multicluster.crd.antrea.io/v1alpha2",
      kind: "ClusterSet",
      metadata: { name: CLUSTER_SET, namespace },
      spec: {
        clusterID: cluster,
        leaders: [{ clusterID: LEADER_ID, server: leader.url, secret: MEMBER_SECRET }],
        namespace: COMMON_AREA,
      },
    },
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: MEMBER_SECRET, namespace },
      type: "Opaque",
      data: { "ca.crt": base64(leader.caPem), token: base64(token) },
    },
  ];
}

/** A member's own token; it opens nothing but the bench. */
export function memberToken(cluster: string): string {
  return createHash("sha256").update(cluster).digest("base64url");
}
