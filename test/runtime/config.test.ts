import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseConfig } from "../../lib/runtime/config.ts";

const COMPLETE = {
  HAWSER_STAGE: "dev",
  HAWSER_TABLE: "hawser-dev",
  HAWSER_SCHEDULE_GROUP: "hawser-dev",
  HAWSER_SCHEDULER_ROLE_ARN: "arn:aws:iam::123456789012:role/scheduler",
  HAWSER_DEAD_LETTER_ARN: "arn:aws:sqs:eu-west-1:123456789012:dead-letters",
  HAWSER_FUNCTION_ARN_PREFIX: "arn:aws:lambda:eu-west-1:123456789012:function:hawser-dev-",
  HAWSER_DEPLOYED_AT: "1796098984889",
  HAWSER_PARAMETER_PREFIX: "/hawser/dev/",
};

test("reads a deployment's environment, cold and without files unless told otherwise", () => {
  const config = parseConfig({ ...COMPLETE, AWS_REGION: "eu-west-1" });

  assert.ok(config.ok);
  assert.deepEqual(config.value, {
    stage: "dev",
    table: "hawser-dev",
    scheduleGroup: "hawser-dev",
    schedulerRoleArn: COMPLETE.HAWSER_SCHEDULER_ROLE_ARN,
    deadLetterArn: COMPLETE.HAWSER_DEAD_LETTER_ARN,
    functionArnPrefix: COMPLETE.HAWSER_FUNCTION_ARN_PREFIX,
    deployedAt: 1796098984889,
    standby: "cold",
    watchMode: "continuous",
    watchModeExcept: [],
    parameterPrefix: "/hawser/dev/",
    proxy: {},
    fileAccess: false,
  });
});

test("reads what one's own machine may switch on", () => {
  const config = parseConfig({ ...COMPLETE, HAWSER_STANDBY: "hot", HAWSER_FILE_ACCESS: "allowed" });

  assert.ok(config.ok);
  assert.equal(config.value.standby, "hot");
  assert.equal(config.value.fileAccess, true);
});

for (const name of Object.keys(COMPLETE)) {
  test(`names ${name} and what to do when it is missing`, () => {
    for (const value of [undefined, ""]) {
      const config = parseConfig({ ...COMPLETE, [name]: value });

      assert.ok(!config.ok);
      assert.deepEqual(
        config.error.map((error) => [error.path, error.problem]),
        [[name, "is not set"]],
      );
      assert.match(config.error[0]!.remedy, /\S/);
    }
  });
}

test("reads the proxy that clusters are reached through, in either spelling", () => {
  const pem = "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----";
  const config = parseConfig({
    ...COMPLETE,
    https_proxy: "http://proxy:3128",
    NO_PROXY: "10.0.0.0/8",
    HAWSER_PROXY_CA: pem.replaceAll("\n", "\\n"),
  });

  assert.ok(config.ok);
  assert.deepEqual(config.value.proxy, { httpsProxy: "http://proxy:3128", noProxy: "10.0.0.0/8", proxyCa: pem });
});

test("refuses a proxy that could not be used, and does not repeat its password", () => {
  const config = parseConfig({ ...COMPLETE, HTTPS_PROXY: "socks5://user:s3cret@proxy:1080" });

  assert.ok(!config.ok);
  assert.equal(config.error[0]!.path, "HTTPS_PROXY");
  assert.doesNotMatch(JSON.stringify(config.error), /s3cret/);
});

test("names every wrong variable at once, and repeats no value", () => {
  const config = parseConfig({ ...COMPLETE, HAWSER_STANDBY: "warm-s3cret", HAWSER_DEPLOYED_AT: "s3cret" });

  assert.ok(!config.ok);
  assert.deepEqual(config.error.map((error) => error.path).toSorted(), ["HAWSER_DEPLOYED_AT", "HAWSER_STANDBY"]);
  assert.doesNotMatch(JSON.stringify(config.error), /s3cret/);
});

test("never throws, whatever the environment holds", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...Object.keys(COMPLETE)), fc.string()), (env) => {
      const config = parseConfig(env);
      assert.ok(config.ok || config.error.every((error) => error.path.startsWith("HAWSER_")));
    }),
  );
});
