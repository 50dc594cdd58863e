import type { Cause } from "../../base/cause.ts";
import type { StateError } from "../../state/errors.ts";
import type { Membership, MembershipKey } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { AwsPorts } from "../ports.ts";

const CAUSES: Readonly<Record<StateError["kind"], Cause>> = {
  throttled: "Throttled",
  timeout: "TimedOut",
  unavailable: "ServerError",
  denied: "PermissionDenied",
  invalid: "ConfigurationInvalid",
};

/** The state table answers, to who asks here. */
export function checkTable(
  examination: Examination,
  aws: AwsPorts,
  { cluster, protocol }: MembershipKey,
): Asked<{ readonly membership: Membership | undefined }> {
  return examination.ask({
    side: "aws",
    check: "table",
    needs: [],
    tries: `read membership ${cluster} of table ${aws.tableName}`,
    timeoutMs: 4_000,
    ask: async (_known, signal) => {
      const read = await aws.readMembership(cluster, protocol, signal);
      return read.ok ? passed({ membership: read.value }, "it answers") : tableFault(read.error, aws);
    },
  });
}

/** What a refusal of the table means. */
export function tableFault({ kind, message }: StateError, aws: AwsPorts): Finding<never> {
  const look = `aws dynamodb describe-table --table-name ${aws.tableName}${aws.cliOptions}`;
  const remedy =
    kind === "denied"
      ? `Use AWS credentials that may read the table and use its KMS key: ${look}`
      : `See that the table is there and active: ${look}`;
  return wrong(CAUSES[kind], message, remedy);
}
