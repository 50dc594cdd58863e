import { ServiceError } from "../aws/rest-json.ts";
import { type GroupRequest, type ScheduleRequest, type Tag, validationError } from "./schedule.ts";

/** A schedule as it stands. Moments in milliseconds since the epoch. */
export interface Schedule {
  readonly arn: string;
  readonly request: ScheduleRequest;
  readonly createdMs: number;
  readonly modifiedMs: number;
  /** Where a rate begins to count. */
  readonly anchorMs: number;
  /** The last occurrence that was fired. */
  lastMs: number;
}

/** A schedule group. */
export interface ScheduleGroup {
  readonly arn: string;
  readonly name: string;
  readonly createdMs: number;
  readonly modifiedMs: number;
  readonly tags: Map<string, string>;
}

/** Told of every change, so that the ticker follows. */
export interface ScheduleListener {
  changed(schedule: Schedule): void;
  removed(schedule: Schedule): void;
}

/** What the store needs. */
export interface ScheduleStoreOptions {
  /** The service's own time, in milliseconds since the epoch; runs faster than the clock in a demonstration. */
  readonly now: () => number;
  readonly region: string;
  readonly accountId: string;
  readonly listener: ScheduleListener;
}

/** How old a start may be (EventBridge Scheduler's documentation of StartDate). */
const START_TOLERANCE_MS = 5 * 60_000;

/** Schedules and groups, with the service's rules about them. Refusals are thrown as ServiceError. */
export class ScheduleStore {
  readonly #options: ScheduleStoreOptions;
  readonly #groups = new Map<string, ScheduleGroup>();
  readonly #schedules = new Map<string, Schedule>();

  constructor(options: ScheduleStoreOptions) {
    this.#options = options;
    this.#addGroup("default", []);
  }

  create(request: ScheduleRequest): Schedule {
    this.group(request.GroupName);
    if (this.#schedules.has(keyOf(request.GroupName, request.Name))) {
      throw new ServiceError("ConflictException", 409, `Schedule ${request.Name} already exists.`);
    }
    const now = this.#options.now();
    this.#checkDates(request, undefined, now);
    const { region, accountId } = this.#options;
    return this.#keep({
      arn: `arn:aws:scheduler:${region}:${accountId}:schedule/${request.GroupName}/${request.Name}`,
      request,
      createdMs: now,
      modifiedMs: now,
      anchorMs: startOf(request) ?? now,
      lastMs: now - 1,
    });
  }

  /** Replaces the whole description: what the request leaves out goes back to its default. */
  update(request: ScheduleRequest): Schedule {
    const current = this.get(request.GroupName, request.Name);
    const now = this.#options.now();
    this.#checkDates(request, current.request, now);
    const isSameTime =
      current.request.ScheduleExpression === request.ScheduleExpression &&
      current.request.StartDate === request.StartDate;
    return this.#keep({
      ...current,
      request,
      modifiedMs: now,
      anchorMs: isSameTime ? current.anchorMs : (startOf(request) ?? now),
      // What is due within this minute may not have been fired yet; what is older was missed while it was disabled.
      lastMs: isSameTime ? Math.max(current.lastMs, now - 60_000) : now - 1,
    });
  }

  get(groupName: string, name: string): Schedule {
    this.group(groupName);
    const schedule = this.#schedules.get(keyOf(groupName, name));
    if (schedule === undefined) throw notFound(`Schedule ${name} does not exist.`);
    return schedule;
  }

  delete(groupName: string, name: string): void {
    const schedule = this.get(groupName, name);
    this.#schedules.delete(keyOf(groupName, name));
    this.#options.listener.removed(schedule);
  }

  /** All schedules in the order of lists. */
  list(): readonly Schedule[] {
    return [...this.#schedules].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, schedule]) => schedule);
  }

  createGroup(request: GroupRequest): ScheduleGroup {
    if (this.#groups.has(request.Name)) {
      throw new ServiceError("ConflictException", 409, `Schedule group ${request.Name} already exists.`);
    }
    return this.#addGroup(request.Name, request.Tags);
  }

  group(name: string): ScheduleGroup {
    const group = this.#groups.get(name);
    if (group === undefined) throw notFound(`Schedule group ${name} does not exist.`);
    return group;
  }

  /** Deletes a group with all its schedules. */
  deleteGroup(name: string): void {
    if (name === "default") throw validationError("The default schedule group cannot be deleted.");
    this.group(name);
    for (const { request } of this.list()) {
      if (request.GroupName === name) this.delete(name, request.Name);
    }
    this.#groups.delete(name);
  }

  groups(): readonly ScheduleGroup[] {
    return [...this.#groups.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The group that an ARN names: only groups have tags. */
  groupByArn(arn: string): ScheduleGroup {
    const group = this.groups().find((candidate) => candidate.arn === arn);
    if (group === undefined) throw notFound(`Resource ${arn} does not exist.`);
    return group;
  }

  #keep(schedule: Schedule): Schedule {
    this.#schedules.set(keyOf(schedule.request.GroupName, schedule.request.Name), schedule);
    this.#options.listener.changed(schedule);
    return schedule;
  }

  #addGroup(name: string, tags: readonly Tag[]): ScheduleGroup {
    const now = this.#options.now();
    const group = {
      arn: `arn:aws:scheduler:${this.#options.region}:${this.#options.accountId}:schedule-group/${name}`,
      name,
      createdMs: now,
      modifiedMs: now,
      tags: new Map(tags.map((tag) => [tag.Key, tag.Value])),
    };
    this.#groups.set(name, group);
    return group;
  }

  #checkDates(request: ScheduleRequest, current: ScheduleRequest | undefined, now: number): void {
    const [start, end] = [startOf(request), request.EndDate];
    if (start !== undefined && request.StartDate !== current?.StartDate && start < now - START_TOLERANCE_MS) {
      throw validationError("The StartDate you specify cannot be earlier than 5 minutes ago.");
    }
    if (end !== undefined && end !== current?.EndDate && end * 1000 <= now) {
      throw validationError("The EndDate you specify cannot be in the past.");
    }
  }
}

function startOf(request: ScheduleRequest): number | undefined {
  return request.StartDate === undefined ? undefined : request.StartDate * 1000;
}

function keyOf(groupName: string, name: string): string {
  return `${groupName}/${name}`;
}

function notFound(message: string): ServiceError {
  return new ServiceError("ResourceNotFoundException", 404, message);
}
