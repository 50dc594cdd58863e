import * as v from "valibot";
import type { Clock } from "../../../lib/base/clock.ts";
import { type HttpReply, type HttpRequest, startLoopbackServer } from "../aws/loopback-server.ts";
import { ServiceError } from "../aws/rest-json.ts";
import { EncryptedFile } from "./encrypted-file.ts";
import { type FoundParameter, invalid, KEPT_PARAMETERS, ParameterStore } from "./parameter-store.ts";

/** What the service needs. */
export interface ParametersOptions {
  readonly clock: Clock;
  readonly region?: string;
  readonly accountId?: string;
  /** Where parameters outlive a restart, encrypted; absent: in memory. */
  readonly file?: { readonly path: string; readonly keyPath: string };
}

/** A running Parameter Store. */
export interface Parameters {
  /** For `AWS_ENDPOINT_URL_SSM`. */
  readonly url: string;
  /** Frees the port when everything is saved. */
  stop(): Promise<void>;
}

type Json = Record<string, unknown>;

const MAX_NAMES = 10;

/** Starts the parameter operations of Systems Manager on 127.0.0.1. */
export async function startParameters(options: ParametersOptions): Promise<Parameters> {
  const { file: files, clock } = options;
  const file = files === undefined ? undefined : await EncryptedFile.open(files.path, files.keyPath);
  const kept = await file?.load();
  const store = new ParameterStore(
    () => clock.now().getTime(),
    kept === undefined ? {} : v.parse(KEPT_PARAMETERS, JSON.parse(kept)),
  );
  const place = `${options.region ?? "us-east-1"}:${options.accountId ?? "000000000000"}`;
  const api = new ParametersApi(store, file, place);
  const server = await startLoopbackServer(async (request) => await api.serve(request));
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await file?.settled();
    },
  };
}

class ParametersApi {
  readonly #store: ParameterStore;
  readonly #file: EncryptedFile | undefined;
  readonly #place: string;

  constructor(store: ParameterStore, file: EncryptedFile | undefined, place: string) {
    this.#store = store;
    this.#file = file;
    this.#place = place;
  }

  async serve(request: HttpRequest): Promise<HttpReply> {
    try {
      const operation = String(request.headers["x-amz-target"] ?? "").replace(/^AmazonSSM\./, "");
      return reply(200, await this.#do(operation, bodyOf(request)));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return reply(error.status, { __type: error.type, message: error.message });
    }
  }

  async #do(operation: string, input: Json): Promise<Json> {
    switch (operation) {
      case "GetParameter":
        return { Parameter: this.#shown(this.#found(text(input, "Name")), input) };
      case "GetParameters":
        return this.#getAll(input);
      case "GetParametersByPath":
        return this.#getByPath(input);
      case "PutParameter": {
        const { version, tier } = this.#store.put(input);
        await this.#save();
        return { Version: version, Tier: tier };
      }
      case "DeleteParameter":
        if (!this.#store.delete(text(input, "Name"))) throw notFound();
        await this.#save();
        return {};
      case "DeleteParameters": {
        const names = namesOf(input);
        const deleted = names.filter((name) => this.#store.delete(name));
        await this.#save();
        return { DeletedParameters: deleted, InvalidParameters: names.filter((name) => !deleted.includes(name)) };
      }
      default:
        throw new ServiceError("UnknownOperationException", 400, `there is no operation ${operation}`);
    }
  }

  #getAll(input: Json): Json {
    const names = namesOf(input);
    const found = names.map((name) => this.#store.find(name));
    return {
      Parameters: found.flatMap((parameter) => (parameter === undefined ? [] : [this.#shown(parameter, input)])),
      InvalidParameters: names.filter((_, i) => found[i] === undefined),
    };
  }

  #getByPath(input: Json): Json {
    const all = this.#store.under(text(input, "Path"), input["Recursive"] === true);
    const size = typeof input["MaxResults"] === "number" ? input["MaxResults"] : MAX_NAMES;
    if (size < 1 || size > MAX_NAMES) throw invalid(`MaxResults must be between 1 and ${MAX_NAMES}.`);
    const token = input["NextToken"];
    const after = typeof token === "string" ? Buffer.from(token, "base64url").toString("utf8") : "";
    const rest = all.filter((parameter) => parameter.name > after);
    const page = rest.slice(0, size);
    const last = page.at(-1);
    return {
      Parameters: page.map((parameter) => this.#shown(parameter, input)),
      ...(rest.length > size && last !== undefined ? { NextToken: Buffer.from(last.name).toString("base64url") } : {}),
    };
  }

  #found(name: string): FoundParameter {
    const parameter = this.#store.find(name);
    if (parameter === undefined) throw notFound();
    return parameter;
  }

  /** A SecureString is shown in the clear only when asked for. */
  #shown(parameter: FoundParameter, input: Json): Json {
    const hidden = parameter.type === "SecureString" && input["WithDecryption"] !== true;
    return {
      Name: parameter.name,
      Type: parameter.type,
      Value: hidden
        ? Buffer.from(`encrypted:${parameter.name}:${parameter.version}`).toString("base64")
        : parameter.value,
      Version: parameter.version,
      LastModifiedDate: parameter.modifiedMs / 1000,
      ARN: `arn:aws:ssm:${this.#place}:parameter/${parameter.name.replace(/^\//, "")}`,
      DataType: "text",
      ...(parameter.selector === undefined ? {} : { Selector: parameter.selector }),
    };
  }

  async #save(): Promise<void> {
    await this.#file?.save(JSON.stringify(this.#store.kept));
  }
}

function bodyOf(request: HttpRequest): Json {
  try {
    const body: unknown = JSON.parse(request.body.toString("utf8"));
    if (typeof body === "object" && body !== null && !Array.isArray(body)) return body as Json;
  } catch {
    // Answered below: whatever is not an object is refused in the same way.
  }
  throw new ServiceError("SerializationException", 400, "the body is not a JSON object");
}

function text(input: Json, field: string): string {
  const value = input[field];
  if (typeof value !== "string" || value === "") throw invalid(`${field} must be a text.`);
  return value;
}

function namesOf(input: Json): string[] {
  const names = input["Names"];
  const isList = Array.isArray(names) && names.every((name) => typeof name === "string");
  if (!isList || names.length < 1 || names.length > MAX_NAMES) {
    throw invalid(`Names must be a list of 1 to ${MAX_NAMES} names.`);
  }
  return names;
}

function notFound(): ServiceError {
  return new ServiceError("ParameterNotFound", 400, "The parameter was not found.");
}

function reply(status: number, body: Json): HttpReply {
  return { status, headers: { "content-type": "application/x-amz-json-1.1" }, body: JSON.stringify(body) };
}
