import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { explainDeployFailure } from "../../infra/packaging/deploy-failure.ts";

const DEPLOY = resolve(import.meta.dirname, "../../infra/deploy.ts");

async function deploy(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return await new Promise((done) => {
    execFile(process.execPath, [DEPLOY, ...args], (error, stdout, stderr) => {
      done({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

test("explains itself on --help", async () => {
  const { code, stdout } = await deploy("--help");

  assert.equal(code, 0);
  assert.match(stdout, /--stage STAGE/);
});

for (const [what, args, expected] of [
  ["no stage", [], /--stage is missing/],
  ["a stage that no AWS name may carry", ["--stage", "My_Stage"], /lower-case/],
  ["an unknown option", ["--stage", "dev", "--stages"], /--stages/],
  ["an unknown standby", ["--stage", "dev", "--standby", "warm"], /cold or hot/],
] as const) {
  test(`refuses ${what} with status 2 and the usage`, async () => {
    const { code, stderr } = await deploy(...args);

    assert.equal(code, 2);
    assert.match(stderr, expected);
    assert.match(stderr, /Usage:/);
  });
}

test("says what to do about the usual failures, and nothing about unknown ones", () => {
  const known: readonly (readonly [string, RegExp])[] = [
    ["AWS provider credentials not found. Learn how", /No AWS credentials/],
    ["ExpiredToken: The security token included in the request is expired", /expired/],
    ["The security token included in the request is invalid.", /does not accept/],
    ["User: arn:aws:iam::1:user/x is not authorized to perform: cloudformation:CreateStack", /may not do this/],
    ["getaddrinfo ENOTFOUND cloudformation.eu-nowhere-1.amazonaws.com", /cannot be reached/],
    ["An error occurred: StateTable - hawser-prod already exists.", /outlives its stack/],
    ["CREATE_FAILED: StateTable (AWS::DynamoDB::Table)\nResource of type 'x' already exists.", /outlives its stack/],
    ["Stack:arn is in ROLLBACK_FAILED state and can not be updated.", /takes no update/],
  ];

  for (const [output, remedy] of known) assert.match(explainDeployFailure(output) ?? "", remedy, output);
  assert.equal(explainDeployFailure("Something new"), undefined);
});
