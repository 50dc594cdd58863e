import { dataFolder, type LocalWorldState, readLocalWorld } from "../local/world/state-file.ts";
import { CommandError, EXIT } from "./exit-codes.ts";

/** Options by which a command says which Hawser it means. */
export interface TargetOptions {
  readonly stage?: string;
  readonly region?: string;
  readonly data?: string;
}

/** Where a command's Hawser is: names of its parts, and how AWS clients reach them. */
export interface Target {
  /** For messages: `stage prod in eu-central-1`, `the local world`. */
  readonly name: string;
  readonly stage: string;
  readonly table: string;
  readonly functionPrefix: string;
  readonly region: string;
  /** Endpoint of a service where it is not the public one. */
  readonly endpoints?: {
    readonly dynamodb: string;
    readonly lambda: string;
    readonly scheduler: string;
    readonly ssm: string;
  };
  /** The local services take any; a deployed stage uses the user's own. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The deployed stage that is named, else the local world that runs. */
export function resolveTarget(options: TargetOptions, env: NodeJS.ProcessEnv = process.env): Target {
  if (options.stage !== undefined) return deployedStage(options.stage, options.region, env);
  if (options.region !== undefined) {
    throw new CommandError("--region needs --stage: the local world has no region", EXIT.usage);
  }
  const folder = dataFolder(options.data);
  const world = readLocalWorld(folder);
  if (world === undefined) {
    throw new CommandError(
      `no local world runs in ${folder}. Start one with "npm start" (or name its folder with --data), or name a deployed stage with --stage`,
    );
  }
  return localTarget(world);
}

/** The local world that runs, as a target. */
export function localTarget(world: LocalWorldState): Target {
  return {
    name: "the local world",
    stage: world.stage,
    table: world.table,
    functionPrefix: world.functionPrefix,
    region: world.region,
    endpoints: world.endpoints,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  };
}

function deployedStage(stage: string, given: string | undefined, env: NodeJS.ProcessEnv): Target {
  const region = given ?? env["AWS_REGION"] ?? env["AWS_DEFAULT_REGION"];
  if (region === undefined) {
    throw new CommandError("which region? Name it with --region, or set AWS_REGION", EXIT.usage);
  }
  if (!/^[a-z][a-z0-9-]{0,19}$/.test(stage)) {
    throw new CommandError(`--stage ${stage}: a stage is a lower-case name of at most 20 characters`, EXIT.usage);
  }
  const name = `stage ${stage} in ${region}`;
  return { name, stage, table: `hawser-${stage}`, functionPrefix: `hawser-${stage}-`, region };
}
