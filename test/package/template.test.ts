import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, describe, test } from "node:test";
import { bundleFunctions } from "../../infra/packaging/bundle.ts";
import { checkTemplate, packageStage } from "../../infra/packaging/package-stage.ts";
import type { Template, TemplateResource, Value } from "../../infra/packaging/template.ts";

const ROOT = resolve(import.meta.dirname, "../..");

let folder: string;
let template: Template;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "hawser-test-package-"));
  await bundleFunctions(ROOT);
  ({ template } = await packageStage({ stage: "test", region: "eu-west-1", folder: join(folder, "package") }));
});

after(async () => {
  await rm(folder, { recursive: true, force: true });
});

function resource(id: string): TemplateResource {
  const found = template.Resources[id];
  assert.ok(found !== undefined, `the template has no ${id}`);
  return found;
}

/** The template with one resource's properties changed. */
function withProperties(id: string, change: { readonly [name: string]: Value }): Template {
  const changed = { ...resource(id), Properties: { ...resource(id).Properties, ...change } };
  return { ...template, Resources: { ...template.Resources, [id]: changed } };
}

describe("the packaged stage", () => {
  test("is what CloudFormation's schemas and Hawser's rules ask for", async () => {
    assert.deepEqual(await checkTemplate(template), []);
  });

  test("has a zip of one bundle for each function", async () => {
    const functions = (await readdir(join(ROOT, "functions"))).map((name) => name.replace(/\.ts$/, ""));
    const zips = (await readdir(join(folder, "package"))).filter((name) => name.endsWith(".zip"));

    assert.deepEqual(zips.toSorted(), functions.map((name) => `${name}.zip`).toSorted());
    for (const name of functions) {
      const zip = await readFile(join(folder, "package", `${name}.zip`), "latin1");
      // A header of the central directory for each file, its name after 46 bytes.
      const entries = zip.split("PK\u0001\u0002").slice(1);
      assert.deepEqual([entries.length, entries[0]!.slice(42).startsWith(`dist/${name}.mjs`)], [1, true]);
      const [file] = Object.values(template.Resources)
        .filter(
          ({ Type, Properties }) =>
            Type === "AWS::Lambda::Function" && Properties?.FunctionName === `hawser-test-${name}`,
        )
        .map(({ Properties }) => Properties?.Handler);
      assert.equal(file, `dist/${name}.handler`);
    }
  });

  test("gives announce the longest time Lambda allows, 512 MB and no reserved concurrency", () => {
    const { Timeout, MemorySize, ReservedConcurrentExecutions } = resource("AnnounceLambdaFunction").Properties ?? {};

    assert.deepEqual([Timeout, MemorySize, ReservedConcurrentExecutions], [900, 512, undefined]);
  });

  test("tells each function when it was deployed", () => {
    const deployedAt = ["Announce", "Bootstrap", "Leave", "Sweep"].map((name) => {
      const { Environment } = resource(`${name}LambdaFunction`).Properties ?? {};
      return (Environment as { Variables: Record<string, string> }).Variables.HAWSER_DEPLOYED_AT;
    });

    assert.match(String(deployedAt[0]), /^\d{13}$/);
    assert.equal(new Set(deployedAt).size, 1);
  });

  test("keeps logs for a time, not for ever", () => {
    const groups = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::Logs::LogGroup");

    assert.equal(groups.length, 5);
    for (const { Properties } of groups) assert.equal(Properties?.RetentionInDays, 30);
  });

  test("lets each function do only what it does", () => {
    const actions = (id: string): string => JSON.stringify(resource(id).Properties?.Policies);

    assert.doesNotMatch(actions("AnnounceRole"), /scheduler:|lambda:|iam:/);
    assert.match(actions("BootstrapRole"), /scheduler:CreateSchedule"/);
    assert.doesNotMatch(actions("SchedulerRole"), /dynamodb:|ssm:/);
    assert.doesNotMatch(actions("LeaveRole"), /lambda:|iam:|ssm:PutParameter|scheduler:(Create|Update|Get)/);
    assert.doesNotMatch(actions("SweepRole"), /lambda:|ssm:PutParameter/);
    assert.doesNotMatch(actions("AnnounceRole"), /ssm:DeleteParameter/);
    assert.doesNotMatch(actions("WatchRole"), /scheduler:|lambda:|iam:|ssm:(Put|Delete)Parameter/);
    for (const role of ["AnnounceRole", "BootstrapRole"]) {
      assert.match(
        actions(role),
        /"ssm:PutParameter","Resource":{"Fn::Sub":"[^"]*:parameter\/hawser\/test\/leaders\/\*"}/,
      );
    }
  });

  test("sweeps every minute, delivered once or not at all, by a schedule of its own", () => {
    const { ScheduleExpression, Target, GroupName, State } = resource("SweepSchedule").Properties ?? {};
    const { RetryPolicy } = Target as { readonly RetryPolicy: Value };

    assert.deepEqual([ScheduleExpression, GroupName, State], ["rate(1 minute)", { Ref: "ScheduleGroup" }, undefined]);
    assert.deepEqual(RetryPolicy, { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 });
  });
});

describe("the checks find", () => {
  const FAULTS: readonly (readonly [string, () => Template, RegExp])[] = [
    ["an unknown property", () => withProperties("ScheduleGroup", { Nam: "x" }), /no property Nam/],
    [
      "an unknown resource type",
      () => ({ ...template, Resources: { ...template.Resources, X: { Type: "AWS::Scheduler::Group" } } }),
      /no resource type AWS::Scheduler::Group/,
    ],
    ["a missing property", () => withProperties("AnnounceLambdaEvConf", { Qualifier: null }), /Qualifier: must be/],
    ["a value of the wrong kind", () => withProperties("AnnounceLambdaFunction", { Timeout: "long" }), /integer/],
    ["a wrong architecture", () => withProperties("AnnounceLambdaFunction", { Architectures: ["x86_64"] }), /arm64/],
    ["an old runtime", () => withProperties("AnnounceLambdaFunction", { Runtime: "nodejs22.x" }), /nodejs24\.x/],
    ["a retry", () => withProperties("AnnounceLambdaEvConf", { MaximumRetryAttempts: 2 }), /not retried/],
    ["a shared role", () => withProperties("BootstrapLambdaFunction", roleOf("AnnounceLambdaFunction")), /own/],
    ["a dangling reference", () => withProperties("ScheduleGroup", { Name: { Ref: "Nothing" } }), /no Nothing/],
    ["a dangling name in a text", () => withProperties("ScheduleGroup", { Name: { "Fn::Sub": "${No.Arn}" } }), /no No/],
    ["an unknown attribute", () => withProperties("ScheduleGroup", getAtt("StateTable.Size")), /no attribute Size/],
    ["a circle", () => withProperties("AnnounceRole", { RoleName: { Ref: "AnnounceLambdaFunction" } }), /on itself/],
    ["a policy for everything", () => withProperties("AnnounceRole", policy("s3:GetObject", "*")), /allows everything/],
    ["a policy to do everything", () => withProperties("AnnounceRole", policy("s3:*", "arn:x")), /allows everything/],
    ["a secret", () => withProperties("ScheduleGroup", { Name: "AKIAABCDEFGHIJKLMNOP" }), /looks like a secret/],
  ];
  for (const [what, planted, expected] of FAULTS) {
    test(what, async () => {
      assert.match((await checkTemplate(planted())).join("\n"), expected);
    });
  }

  test("a property that is missing", async () => {
    const { FunctionName: _, ...rest } = resource("AnnounceLambdaEvConf").Properties ?? {};
    const planted = { ...resource("AnnounceLambdaEvConf"), Properties: rest };

    const problems = await checkTemplate({
      ...template,
      Resources: { ...template.Resources, AnnounceLambdaEvConf: planted },
    });

    assert.match(problems.join("\n"), /FunctionName is required/);
  });
});

function roleOf(id: string): { readonly Role: Value } {
  return { Role: resource(id).Properties?.Role ?? null };
}

function getAtt(path: string): { readonly Name: Value } {
  return { Name: { "Fn::GetAtt": path.split(".") } };
}

function policy(action: string, target: string): { readonly Policies: Value } {
  const statement = { Effect: "Allow", Action: action, Resource: target };
  return { Policies: [{ PolicyName: "p", PolicyDocument: { Statement: [statement] } }] };
}
