import type { HttpReply, HttpRequest } from "../aws/loopback-server.ts";
import { errorReply, jsonReply, ServiceError } from "../aws/rest-json.ts";
import type { ClientTokens } from "./client-tokens.ts";
import { readGroupRequest, readScheduleRequest, validationError } from "./schedule.ts";
import type { Schedule, ScheduleGroup, ScheduleStore } from "./store.ts";

type Json = Record<string, unknown>;

/** The EventBridge Scheduler API (2021-06-30) over a store. */
export class SchedulerApi {
  readonly #store: ScheduleStore;
  readonly #tokens: ClientTokens;

  constructor(store: ScheduleStore, tokens: ClientTokens) {
    this.#store = store;
    this.#tokens = tokens;
  }

  /** Answers one request. */
  serve(request: HttpRequest): HttpReply {
    try {
      return jsonReply(200, this.#route(request));
    } catch (error) {
      if (error instanceof ServiceError) return errorReply(error);
      throw error;
    }
  }

  #route(request: HttpRequest): Json {
    const [, collection, encoded] = /^\/(schedules|schedule-groups|tags)(?:\/(.+))?$/.exec(request.path) ?? [];
    const name = encoded === undefined ? undefined : decodeURIComponent(encoded);
    if (collection === "schedules") return name === undefined ? this.#list(request) : this.#schedule(request, name);
    if (collection === "schedule-groups")
      return name === undefined ? this.#listGroups(request) : this.#group(request, name);
    if (collection === "tags" && name !== undefined) return this.#tags(request, name);
    throw unknownOperation(request);
  }

  #schedule(request: HttpRequest, name: string): Json {
    const groupName = request.query.get("groupName") ?? "default";
    switch (request.method) {
      case "GET":
        return described(this.#store.get(groupName, name));
      case "DELETE": {
        const token = request.query.get("clientToken") ?? undefined;
        this.#tokens.once("DeleteSchedule", token, { groupName, name }, () => this.#store.delete(groupName, name));
        return {};
      }
      case "POST":
      case "PUT":
        return this.#write(request.method, { ...bodyOf(request), Name: name });
      default:
        throw unknownOperation(request);
    }
  }

  #write(method: "POST" | "PUT", input: Json): Json {
    const { ClientToken, ...wanted } = readScheduleRequest(input);
    const arn = this.#tokens.once(method, ClientToken, wanted, () =>
      method === "POST" ? this.#store.create(wanted).arn : this.#store.update(wanted).arn,
    );
    return { ScheduleArn: arn };
  }

  #list(request: HttpRequest): Json {
    const groupName = request.query.get("ScheduleGroup");
    const state = request.query.get("State");
    if (groupName !== null) this.#store.group(groupName);
    if (state !== null && state !== "ENABLED" && state !== "DISABLED") {
      throw validationError(
        "1 validation error detected: Value at 'state' failed to satisfy constraint: Member must satisfy enum value set: [ENABLED, DISABLED]",
      );
    }
    const found = this.#store
      .list()
      .filter(
        ({ request: schedule }) =>
          (groupName === null || schedule.GroupName === groupName) &&
          (state === null || schedule.State === state) &&
          schedule.Name.startsWith(request.query.get("NamePrefix") ?? ""),
      );
    const page = paged(request, found, (schedule) => `${schedule.request.GroupName}/${schedule.request.Name}`);
    return { Schedules: page.items.map(summary), ...page.next };
  }

  #group(request: HttpRequest, name: string): Json {
    switch (request.method) {
      case "GET":
        return describedGroup(this.#store.group(name));
      case "DELETE": {
        const token = request.query.get("clientToken") ?? undefined;
        this.#tokens.once("DeleteScheduleGroup", token, { name }, () => this.#store.deleteGroup(name));
        return {};
      }
      case "POST": {
        const { ClientToken, ...wanted } = readGroupRequest({ ...bodyOf(request), Name: name });
        const create = () => this.#store.createGroup(wanted).arn;
        return { ScheduleGroupArn: this.#tokens.once("CreateScheduleGroup", ClientToken, wanted, create) };
      }
      default:
        throw unknownOperation(request);
    }
  }

  #listGroups(request: HttpRequest): Json {
    const found = this.#store.groups().filter((g) => g.name.startsWith(request.query.get("NamePrefix") ?? ""));
    const page = paged(request, found, (group) => group.name);
    return { ScheduleGroups: page.items.map(describedGroup), ...page.next };
  }

  #tags(request: HttpRequest, arn: string): Json {
    const { tags } = this.#store.groupByArn(arn);
    switch (request.method) {
      case "GET":
        return { Tags: [...tags].map(([Key, Value]) => ({ Key, Value })) };
      case "POST":
        for (const { Key, Value } of readGroupRequest({ Name: "tags", Tags: bodyOf(request)["Tags"] }).Tags) {
          tags.set(Key, Value);
        }
        return {};
      case "DELETE":
        for (const key of request.query.getAll("TagKeys")) tags.delete(key);
        return {};
      default:
        throw unknownOperation(request);
    }
  }
}

function bodyOf(request: HttpRequest): Json {
  try {
    const body: unknown = request.body.length === 0 ? {} : JSON.parse(request.body.toString("utf8"));
    if (typeof body === "object" && body !== null) return body as Json;
  } catch {
    // Answered below: whatever is not an object is refused in the same way.
  }
  throw new ServiceError("SerializationException", 400, "the body is not a JSON object");
}

function paged<T>(request: HttpRequest, all: readonly T[], keyOf: (item: T) => string): { items: T[]; next: Json } {
  const size = Number(request.query.get("MaxResults") ?? 100);
  if (!Number.isInteger(size) || size < 1 || size > 100) {
    throw validationError(
      "1 validation error detected: Value at 'maxResults' failed to satisfy constraint: Member must have value between 1 and 100",
    );
  }
  const token = request.query.get("NextToken");
  const from = token === null ? "" : Buffer.from(token, "base64url").toString("utf8");
  const rest = all.filter((item) => keyOf(item) > from);
  const items = rest.slice(0, size);
  const last = items.at(-1);
  const more = rest.length > size && last !== undefined;
  return { items, next: more ? { NextToken: Buffer.from(keyOf(last)).toString("base64url") } : {} };
}

function described(schedule: Schedule): Json {
  return { Arn: schedule.arn, ...schedule.request, ...dates(schedule) };
}

function summary(schedule: Schedule): Json {
  const { Name, GroupName, State, Target } = schedule.request;
  return { Arn: schedule.arn, Name, GroupName, State, Target: { Arn: Target.Arn }, ...dates(schedule) };
}

function describedGroup(group: ScheduleGroup): Json {
  return { Arn: group.arn, Name: group.name, State: "ACTIVE", ...dates(group) };
}

function dates(item: { readonly createdMs: number; readonly modifiedMs: number }): Json {
  return { CreationDate: item.createdMs / 1000, LastModificationDate: item.modifiedMs / 1000 };
}

function unknownOperation(request: HttpRequest): ServiceError {
  return new ServiceError("UnknownOperationException", 404, `there is no operation ${request.method} ${request.path}`);
}
