import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { AwsPorts, ImportSummary } from "../ports.ts";
import { tableFault } from "./table.ts";

/** How many are named, of those that are not as they are to be. */
const NAMED = 3;

/** What the leader asks the member to import is there, or not meant for it. */
export function checkImports(examination: Examination, aws: AwsPorts, membership: Asked<Membership>): Asked<void> {
  return examination.ask({
    side: "aws",
    check: "imports",
    needs: [membership],
    tries: ({ cluster }) => `what the table has of the imports of ${cluster}`,
    timeoutMs: 4_000,
    ask: async ([{ cluster }], signal) => {
      const read = await aws.readImports(cluster, signal);
      return read.ok ? judge(read.value, cluster) : tableFault(read.error, aws);
    },
  });
}

function judge(imports: readonly ImportSummary[], cluster: string): Finding<void> {
  const out = imports.filter(({ calm }) => !calm);
  const [first] = out;
  if (first === undefined) {
    const applied = imports.filter(({ state }) => state === "Applied").length;
    return passed(undefined, `${applied} applied, ${imports.length - applied} that are not for this cluster`);
  }
  const named = out.slice(0, NAMED).map(({ name, state, error = "" }) => `${name} is ${state}: ${error}`);
  const more = out.length > NAMED ? `; and ${out.length - NAMED} more` : "";
  const cause = first.state === "Failed" || first.state === "Removing" ? "ServerError" : "ConfigurationInvalid";
  return wrong(
    cause,
    `${out.length} of ${imports.length} are not applied: ${named.join("; ")}${more}`,
    `hawser imports ${cluster}; each says what it waits for`,
  );
}
