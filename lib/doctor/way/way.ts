import type { Connection } from "../../kube/connection.ts";
import type { Side } from "../examination.ts";
import type { ClusterPorts } from "../ports.ts";

/** The way to one of the two clusters; its checks are the same for both. */
export interface Way {
  readonly side: Side & ("member" | "leader");
  readonly ports: ClusterPorts;
}

/** Where the way leads. */
export interface Target {
  /** The cluster's name in messages. */
  readonly name: string;
  readonly connection: Connection;
}
