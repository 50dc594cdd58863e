import { connectionFromSecret, missingSecret } from "../../kube/access/secret.ts";
import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { mistaken, passed, refused } from "../finding.ts";
import type { AntreaPorts, Tie } from "../ports.ts";
import type { Authenticated } from "../way/authentication.ts";
import type { Target } from "../way/way.ts";

/** The member's Secret holds a CA and a token, which make the connection to the leader. */
export function checkSecret(
  examination: Examination,
  antrea: AntreaPorts,
  of: {
    readonly membership: Asked<Membership>;
    readonly authenticated: Asked<Authenticated>;
    readonly tie: Asked<Tie>;
  },
): Asked<Target> {
  return examination.ask({
    side: "member",
    check: "secret",
    needs: [of.membership, of.authenticated, of.tie],
    tries: ({ antrea: { namespace } }, _client, { secret }) => `read Secret ${namespace}/${secret}`,
    timeoutMs: 3_000,
    ask: async (
      [
        {
          cluster,
          antrea: { namespace },
        },
        { client },
        tie,
      ],
      signal,
    ) => {
      const source = { cluster, namespace, name: tie.secret };
      const read = await client.get(antrea.secretRef(namespace, tie), { timeoutMs: 2_500, signal });
      if (!read.ok) {
        if (read.error.kind === "notFound") return mistaken(missingSecret(source));
        const file = "infra/kubernetes/member/hawser.yaml";
        return refused(
          read.error,
          `In the member, with the Secret's name ${tie.secret} in it: kubectl apply -f ${file}`,
        );
      }
      const connection = connectionFromSecret(read.value.object, source, tie.server);
      if (!connection.ok) return mistaken(connection.error);
      const name = `leader of ${cluster}`;
      return passed({ name, connection: connection.value }, "it has ca.crt and token, in the right form");
    },
  });
}
