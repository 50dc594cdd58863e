import { readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkTemplate, PackagingFailed, packageStage } from "./packaging/package-stage.ts";

const USAGE = `Usage: npm run package -- [--stage STAGE] [--region REGION]

Bundles the functions and packages them for AWS into .serverless/, offline and without credentials, then holds the
CloudFormation template against AWS's schemas and Hawser's own rules.

  --stage STAGE     name of the deployment (default: dev)
  --region REGION   AWS region (default: AWS_REGION, else us-east-1)
  --help            this text
`;

const root = resolve(import.meta.dirname, "..");
const { values } = parseArgs({
  options: { stage: { type: "string" }, region: { type: "string" }, help: { type: "boolean" } },
});
if (values.help === true) process.stdout.write(USAGE);
else process.exitCode = await main(values.stage ?? "dev", values.region);

async function main(stage: string, region: string | undefined): Promise<number> {
  try {
    const folder = join(root, ".serverless");
    const { template } = await packageStage({ stage, ...(region === undefined ? {} : { region }), folder });
    const problems = await checkTemplate(template);
    for (const problem of problems) console.error(`template: ${problem}`);
    if (problems.length > 0) return 1;
    const zips = (await readdir(folder)).filter((name) => name.endsWith(".zip")).toSorted();
    console.log(`Packaged ${stage} into .serverless/: ${zips.join(", ")}`);
    console.log(`The template's ${Object.keys(template.Resources).length} resources are as they must be.`);
    return 0;
  } catch (error) {
    if (!(error instanceof PackagingFailed)) throw error;
    console.error(error.message);
    return 1;
  }
}
