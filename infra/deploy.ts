import { parseArgs } from "node:util";
import { explainDeployFailure } from "./packaging/deploy-failure.ts";
import { runOsls } from "./packaging/osls.ts";

const USAGE = `Usage: npm run deploy -- --stage STAGE [--region REGION] [--standby cold|hot]

Bundles the functions and deploys a stage to AWS with CloudFormation. Credentials and region are found as the AWS SDK
finds them (AWS_PROFILE, AWS_REGION, ...). May be repeated; schedules and memberships stay as they are.

  --stage STAGE     name of the deployment: lower-case letters, digits and '-', at most 20 characters
  --region REGION   AWS region (default: AWS_REGION, else us-east-1)
  --standby MODE    hot: a killed window is replaced within seconds, for twice the compute (default: cold)
  --help            this text

Exit status: 0 deployed, 1 failed, 2 wrong usage.
`;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const options = parse(args);
  if (typeof options === "string") {
    process.stderr.write(`${options}\n\n${USAGE}`);
    return 2;
  }
  if (options.help === true) {
    process.stdout.write(USAGE);
    return 0;
  }
  const region = options.region === undefined ? [] : ["--region", options.region];
  const standby = options.standby === undefined ? [] : ["--param", `standby=${options.standby}`];
  const run = await runOsls(["deploy", "--stage", options.stage ?? "", ...region, ...standby], true);
  if (run.code === 0) return 0;
  const remedy = explainDeployFailure(run.output);
  if (remedy !== undefined) process.stderr.write(`\n${remedy}\n`);
  return 1;
}

interface Options {
  readonly stage?: string;
  readonly region?: string;
  readonly standby?: string;
  readonly help?: boolean;
}

/** The options, or what is wrong with them. */
function parse(args: readonly string[]): Options | string {
  let values: Options;
  try {
    values = parseArgs({
      args: [...args],
      options: {
        stage: { type: "string" },
        region: { type: "string" },
        standby: { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (values.help === true) return values;
  if (values.stage === undefined) return "--stage is missing: name the deployment, for instance `--stage dev`.";
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(values.stage)) {
    return `--stage ${values.stage}: use lower-case letters, digits and '-', at most 20 characters, a letter first.`;
  }
  if (values.standby !== undefined && !["cold", "hot"].includes(values.standby)) {
    return `--standby ${values.standby}: it is either cold or hot.`;
  }
  return values;
}
