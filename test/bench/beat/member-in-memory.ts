import type { MemberCluster } from "../../../lib/antrea/ports.ts";
import { failed, ok } from "../../../lib/base/result.ts";
import type { KubeObject } from "../../../lib/kube/client.ts";
import { memberObjects } from "./member-objects.ts";
import { type BenchMember, MEMBER_NAMESPACE, type RunningLeader } from "./protocol.ts";

/** What has been written to a member: little, so that the driver's memory is Hawser's. */
interface Written {
  readonly version: number;
  /** The ClusterSet's status as JSON. */
  readonly status: string;
}

/** Members without API servers, for figures of the beats alone: they answer at once, and remember their status. */
export class MembersInMemory {
  readonly #leader: RunningLeader;
  readonly #written = new Map<string, Written>();

  constructor(leader: RunningLeader) {
    this.#leader = leader;
  }

  connect(member: BenchMember): MemberCluster {
    const { cluster } = member;
    const objects = (): readonly [KubeObject, KubeObject] => this.#objects(member);
    return {
      cluster,
      get: async ({ type }) => {
        const [clusterSet, secret] = objects();
        return ok({ object: type.resource === "secrets" ? secret : clusterSet, clockAheadMs: 0 });
      },
      list: async () => ok({ items: [objects()[0]], resourceVersion: "1" }),
      mergePatchStatus: async (ref, patch) => {
        const { version } = this.#written.get(cluster) ?? { version: 1 };
        const { metadata, status } = patch as { metadata: { resourceVersion: string }; status: unknown };
        if (metadata.resourceVersion !== String(version)) return failed(conflict(cluster, ref.name));
        this.#written.set(cluster, { version: version + 1, status: JSON.stringify(status) });
        return ok({ object: objects()[0], clockAheadMs: 0 });
      },
      close: async () => undefined,
    };
  }

  #objects({ cluster, token }: BenchMember): readonly [KubeObject, KubeObject] {
    const [clusterSet, secret] = memberObjects({ cluster, namespace: MEMBER_NAMESPACE, leader: this.#leader, token });
    const { version, status } = this.#written.get(cluster) ?? { version: 1, status: undefined };
    const metadata = {
      ...clusterSet.metadata,
      uid: `uid-of-${cluster}`,
      generation: 1,
      resourceVersion: String(version),
    };
    const shown = status === undefined ? {} : { status: JSON.parse(status) as unknown };
    return [{ ...clusterSet, metadata, ...shown }, secret];
  }
}

function conflict(cluster: string, object: string) {
  const message = `ClusterSet ${object} of ${cluster} has been modified`;
  return { kind: "conflict", status: 409, cluster, operation: "patch", object, retry: "now", message } as const;
}
