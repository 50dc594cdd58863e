import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { mistaken, passed, refused } from "../finding.ts";
import type { ClusterPorts } from "../ports.ts";
import type { Target } from "../way/way.ts";

/** The membership's access leads to a kubeconfig that can be used. */
export function checkAccess(
  examination: Examination,
  ports: ClusterPorts,
  membership: Asked<Membership>,
): Asked<Target> {
  return examination.ask({
    side: "member",
    check: "access",
    needs: [membership],
    tries: ({ access }) => `read the kubeconfig ${placeOf(access.kubeconfig)}`,
    timeoutMs: 4_000,
    ask: async ([member], signal) => {
      const { cluster } = member;
      const resolved = await ports.resolveMember(member, signal);
      if (resolved.ok) return passed({ name: cluster, connection: resolved.value }, resolved.value.server.href);
      const { error } = resolved;
      return "kind" in error ? refused(error, "Run it again, with AWS credentials that may read it") : mistaken(error);
    },
  });
}

function placeOf(reference: Membership["access"]["kubeconfig"]): string {
  return "ssm" in reference ? `in SSM parameter ${reference.ssm}` : `in file ${reference.file}`;
}
