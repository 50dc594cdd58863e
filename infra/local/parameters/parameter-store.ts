import * as v from "valibot";
import { ServiceError } from "../aws/rest-json.ts";

const TYPES = ["String", "StringList", "SecureString"] as const;
const MAX_BYTES = { Standard: 4096, Advanced: 8192, "Intelligent-Tiering": 8192 } as const;
const TIERS = ["Standard", "Advanced", "Intelligent-Tiering"] as const;
/** How many versions of a parameter are kept (Parameter Store's documentation). */
const MAX_VERSIONS = 100;
const MAX_LEVELS = 15;

const VERSION = v.object({
  value: v.string(),
  version: v.number(),
  type: v.picklist(TYPES),
  tier: v.picklist(TIERS),
  modifiedMs: v.number(),
});

/** What the store keeps over a restart: name to versions, the oldest first. */
export const KEPT_PARAMETERS = v.record(v.string(), v.array(VERSION));

/** One version of a parameter. */
export type ParameterVersion = v.InferOutput<typeof VERSION>;

const PUT = v.object({
  Name: v.pipe(v.string(), v.minLength(1), v.maxLength(2048)),
  Value: v.string(),
  Type: v.optional(v.picklist(TYPES)),
  Overwrite: v.optional(v.boolean(), false),
  Tier: v.optional(v.picklist(TIERS)),
});

/** A parameter that was found. */
export interface FoundParameter extends ParameterVersion {
  readonly name: string;
  /** `:3` when a version was asked for. */
  readonly selector: string | undefined;
}

/** Parameters with their versions. Refusals are thrown as ServiceError. */
export class ParameterStore {
  readonly #nowMs: () => number;
  readonly #parameters: Map<string, ParameterVersion[]>;

  constructor(nowMs: () => number, kept: v.InferOutput<typeof KEPT_PARAMETERS> = {}) {
    this.#nowMs = nowMs;
    this.#parameters = new Map(Object.entries(kept));
  }

  /** What `KEPT_PARAMETERS` describes. */
  get kept(): v.InferOutput<typeof KEPT_PARAMETERS> {
    return Object.fromEntries(this.#parameters);
  }

  put(input: unknown): ParameterVersion {
    const parsed = v.safeParse(PUT, input);
    if (!parsed.success) {
      const [issue] = parsed.issues;
      throw invalid(`${v.getDotPath(issue) ?? "request"}: ${issue.type} failed`);
    }
    const { Name, Value, Type, Overwrite, Tier } = parsed.output;
    checkName(Name);
    const versions = this.#parameters.get(Name) ?? [];
    const last = versions.at(-1);
    if (last !== undefined && !Overwrite) {
      throw new ServiceError(
        "ParameterAlreadyExists",
        400,
        "The parameter already exists. To overwrite this value, set the overwrite option in the request to true.",
      );
    }
    const type = Type ?? last?.type;
    if (type === undefined) throw invalid("A parameter type is required when you create a parameter.");
    const tier = tierOf(Value, Tier ?? last?.tier ?? "Standard");
    const version = { value: Value, version: (last?.version ?? 0) + 1, type, tier, modifiedMs: this.#nowMs() };
    this.#parameters.set(Name, [...versions, version].slice(-MAX_VERSIONS));
    return version;
  }

  /** Finds `name` or `name:version`; undefined when there is no such parameter. */
  find(nameWithSelector: string): FoundParameter | undefined {
    const [, name = "", selector] = /^(?:arn:[^/]*:parameter(?=\/))?([^:]*)(:\d+)?$/.exec(nameWithSelector) ?? [];
    const versions = this.#parameters.get(name);
    if (versions === undefined) return undefined;
    const version =
      selector === undefined ? versions.at(-1) : versions.find((each) => each.version === Number(selector.slice(1)));
    if (version === undefined) {
      const text = `Systems Manager could not find version ${selector?.slice(1)} of ${name}.`;
      throw new ServiceError("ParameterVersionNotFound", 400, text);
    }
    return { ...version, name, selector };
  }

  /** False when there was none. */
  delete(name: string): boolean {
    return this.#parameters.delete(name);
  }

  /** The newest versions of all that lie under a path, in the order of their names. */
  under(path: string, recursive: boolean): readonly FoundParameter[] {
    if (!path.startsWith("/")) throw invalid("The parameter path must begin with a slash.");
    const prefix = path.endsWith("/") ? path : `${path}/`;
    return [...this.#parameters.keys()]
      .filter((name) => name.startsWith(prefix) && (recursive || !name.slice(prefix.length).includes("/")))
      .toSorted()
      .flatMap((name) => this.find(name) ?? []);
  }
}

/** A request that is malformed. */
export function invalid(message: string): ServiceError {
  return new ServiceError("ValidationException", 400, message);
}

function checkName(name: string): void {
  if (!/^[a-zA-Z0-9_.\-/]+$/.test(name)) {
    throw invalid("Parameter name: only a mix of letters, numbers and the characters ., -, _ and / is allowed.");
  }
  if (name.includes("/") && !name.startsWith("/")) {
    throw invalid("Parameter name must be a fully qualified name: it must begin with a slash.");
  }
  if (/^\/?(aws|ssm)/i.test(name)) {
    throw new ServiceError("AccessDeniedException", 400, "No access to reserved parameter name.");
  }
  if (name.split("/").length - 1 > MAX_LEVELS) {
    throw new ServiceError(
      "HierarchyLevelLimitExceededException",
      400,
      `Parameter name has more than ${MAX_LEVELS} levels.`,
    );
  }
}

function tierOf(value: string, wanted: (typeof TIERS)[number]): (typeof TIERS)[number] {
  const bytes = Buffer.byteLength(value);
  if (bytes > MAX_BYTES[wanted]) {
    throw invalid(
      `Parameter values of the tier ${wanted} may have at most ${MAX_BYTES[wanted]} bytes, this one has ${bytes}.`,
    );
  }
  if (wanted !== "Intelligent-Tiering") return wanted;
  return bytes > MAX_BYTES.Standard ? "Advanced" : "Standard";
}
