import type { Cause } from "../../base/cause.ts";
import type { Asked, Examination } from "../examination.ts";
import { passed, wrong } from "../finding.ts";
import type { AwsPorts, FunctionFault } from "../ports.ts";
import { checkOf } from "./role-check.ts";

const CAUSES: Readonly<Record<FunctionFault["kind"], Cause>> = {
  absent: "ConfigurationInvalid",
  denied: "PermissionDenied",
  unreachable: "ServerError",
};

/** The function of the role is deployed. */
export function checkFunction(examination: Examination, aws: AwsPorts, role: string): Asked<void> {
  const name = `${aws.functionPrefix}${role}`;
  return examination.ask({
    side: "aws",
    check: checkOf(role, "function"),
    needs: [],
    tries: `invoke ${name} as a dry run`,
    timeoutMs: 4_000,
    ask: async (_known, signal) => {
      const probed = await aws.probeFunction(role, signal);
      if (probed.ok) return passed(undefined, "it is there and may be invoked");
      const { kind, message } = probed.error;
      const remedy =
        kind === "absent"
          ? "npm run deploy -- --stage STAGE"
          : `aws lambda get-function --function-name ${name}${aws.cliOptions}`;
      return wrong(CAUSES[kind], message, remedy);
    },
  });
}
