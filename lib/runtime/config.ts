import * as v from "valibot";
import { failed, ok, type Result } from "../base/result.ts";
import { describeUserErrors, type UserError } from "../base/user-error.ts";
import { type ProxySettings, parseProxyUrl } from "../kube/proxy.ts";

/** What a deployed function is told by its environment. */
export interface Config {
  /** The deployment's name (`dev`, `prod`); part of every name in AWS. */
  readonly stage: string;
  /** Name of the state table. */
  readonly table: string;
  /** Name of the schedule group that all schedules of this stage are in. */
  readonly scheduleGroup: string;
  /** Role that EventBridge Scheduler assumes to invoke the functions. */
  readonly schedulerRoleArn: string;
  /** Queue that takes the firings that could not be delivered. */
  readonly deadLetterArn: string;
  /** ARN of each function, up to its name in `functions/`: `arn:aws:lambda:…:function:hawser-dev-`. */
  readonly functionArnPrefix: string;
  /** When this code was deployed, in milliseconds since the epoch; orders deployments, rollbacks too. */
  readonly deployedAt: number;
  /** Whether a second invocation stands ready to take over within seconds. */
  readonly standby: "cold" | "hot";
  /** Whether ResourceImports are watched all the time, or for some seconds every minute at a tenth of the cost. */
  readonly watchMode: "continuous" | "windowed";
  /** Shards that are watched in the other mode. */
  readonly watchModeExcept: readonly string[];
  /** Prefix of the parameters that Hawser itself keeps (`/hawser/dev/`). */
  readonly parameterPrefix: string;
  /** The proxy on the way to clusters, where there is one. */
  readonly proxy: ProxySettings;
  /** True where a membership may name a kubeconfig file: on one's own machine, never in a deployment. */
  readonly fileAccess: boolean;
}

interface Variable {
  /** Several names: the first that is set counts. */
  readonly names: readonly [string, ...string[]];
  /** What to do when it is missing or wrong. */
  readonly remedy: string;
}

const DEPLOYED = "It is set by serverless.yml: deploy the stage again with `npm run deploy -- --stage STAGE`.";

/** Where each field comes from. */
const VARIABLES: Readonly<Record<keyof typeof Environment.entries, Variable>> = {
  stage: { names: ["HAWSER_STAGE"], remedy: DEPLOYED },
  table: { names: ["HAWSER_TABLE"], remedy: DEPLOYED },
  scheduleGroup: { names: ["HAWSER_SCHEDULE_GROUP"], remedy: DEPLOYED },
  schedulerRoleArn: { names: ["HAWSER_SCHEDULER_ROLE_ARN"], remedy: DEPLOYED },
  deadLetterArn: { names: ["HAWSER_DEAD_LETTER_ARN"], remedy: DEPLOYED },
  functionArnPrefix: { names: ["HAWSER_FUNCTION_ARN_PREFIX"], remedy: DEPLOYED },
  deployedAt: { names: ["HAWSER_DEPLOYED_AT"], remedy: DEPLOYED },
  standby: { names: ["HAWSER_STANDBY"], remedy: "Leave it out for `cold`, or set it to `cold` or `hot`." },
  watchMode: {
    names: ["HAWSER_WATCH_MODE"],
    remedy: "Leave it out for `continuous`, or set it to `continuous` or `windowed`.",
  },
  watchModeExcept: { names: ["HAWSER_WATCH_MODE_EXCEPT"], remedy: "Write names of shards, separated by commas." },
  parameterPrefix: {
    names: ["HAWSER_PARAMETER_PREFIX"],
    remedy: "It must begin and end with a slash: `/hawser/dev/`.",
  },
  httpsProxy: { names: ["HTTPS_PROXY", "https_proxy"], remedy: "Write http://HOST:PORT or https://HOST:PORT." },
  noProxy: { names: ["NO_PROXY", "no_proxy"], remedy: "Write names, addresses and ranges, separated by commas." },
  proxyCa: { names: ["HAWSER_PROXY_CA"], remedy: "Give PEM certificates; a line break may be written as \\n." },
  fileAccess: { names: ["HAWSER_FILE_ACCESS"], remedy: "Leave it out, or set it to `allowed` on your own machine." },
};

const arn = v.pipe(v.string(), v.regex(/^arn:[a-z-]+:[a-z]+:[a-z0-9-]*:\d{12}:.+$/, "is not an ARN"));

const Environment = v.object({
  stage: v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,19}$/, "is not a lower-case name of at most 20 characters")),
  table: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{3,255}$/, "is not a table name")),
  scheduleGroup: v.pipe(v.string(), v.regex(/^[0-9A-Za-z_.-]{1,64}$/, "is not a schedule group name")),
  schedulerRoleArn: arn,
  deadLetterArn: arn,
  functionArnPrefix: arn,
  deployedAt: v.pipe(
    v.string(),
    v.regex(/^\d{12,14}$/, "is not a time in milliseconds since the epoch"),
    v.transform(Number),
  ),
  standby: v.optional(v.picklist(["cold", "hot"], "is neither `cold` nor `hot`"), "cold"),
  watchMode: v.optional(v.picklist(["continuous", "windowed"], "is neither `continuous` nor `windowed`"), "continuous"),
  watchModeExcept: v.pipe(
    v.optional(v.string(), ""),
    v.regex(/^([a-z0-9-]+(,[a-z0-9-]+)*)?$/, "is not a list of shards"),
    v.transform((list) => list.split(",").filter((shard) => shard !== "")),
  ),
  parameterPrefix: v.pipe(v.string(), v.regex(/^\/([A-Za-z0-9_.-]+\/)+$/, "is not a parameter prefix")),
  httpsProxy: v.optional(
    v.pipe(
      v.string(),
      v.check((url) => parseProxyUrl(url).ok, "is not the URL of a proxy"),
    ),
  ),
  noProxy: v.optional(v.string()),
  proxyCa: v.optional(
    v.pipe(
      v.string(),
      v.transform((pem) => pem.replaceAll("\\n", "\n")),
      v.includes("-----BEGIN CERTIFICATE-----", "is no PEM certificate"),
    ),
  ),
  fileAccess: v.pipe(
    v.optional(v.picklist(["allowed", "refused"], "is neither `allowed` nor `refused`"), "refused"),
    v.transform((word) => word === "allowed"),
  ),
});

/**
 * Reads the settings out of the variables of an environment.
 * An empty variable counts as missing. The errors name the variable; they never repeat its value.
 */
export function parseConfig(env: Readonly<Record<string, string | undefined>>): Result<Config, readonly UserError[]> {
  const given: Record<string, string> = {};
  for (const [field, { names }] of Object.entries(VARIABLES)) {
    const value = names.map((name) => env[name]).find((text) => text !== undefined && text !== "");
    if (value !== undefined) given[field] = value;
  }
  const parsed = v.safeParse(Environment, given);
  if (parsed.success) {
    const { httpsProxy, noProxy, proxyCa, ...settings } = parsed.output;
    return ok({ ...settings, proxy: withoutUndefined({ httpsProxy, noProxy, proxyCa }) });
  }
  return failed(parsed.issues.map((issue) => toUserError(v.getDotPath(issue), issue, given)));
}

/** The settings of this process. Throws when the deployment is wrong: no invocation can do anything then. */
export function readConfig(): Config {
  const config = parseConfig(process.env);
  if (config.ok) return config.value;
  throw new Error(`the function's environment is not complete\n${describeUserErrors(config.error)}`);
}

function toUserError(field: string | null, issue: { message: string }, given: Record<string, string>): UserError {
  const { names, remedy } = VARIABLES[field as keyof typeof VARIABLES];
  const problem = given[field ?? ""] === undefined ? "is not set" : issue.message;
  return { path: names[0], problem, remedy };
}

function withoutUndefined(
  settings: { readonly [K in keyof ProxySettings]: ProxySettings[K] | undefined },
): ProxySettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
