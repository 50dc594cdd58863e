import type { Clock, Deadline } from "../../../../lib/base/clock.ts";
import { ANONYMOUS, type Authenticator } from "../access/authentication.ts";
import { type Authorizer, forbiddenStatus } from "../access/authorization.ts";
import { actingUser } from "../access/impersonation.ts";
import { applyFaults, armWatch } from "../faults/fault-actions.ts";
import type { FaultPlan, Faults } from "../faults/faults.ts";
import * as statuses from "../status.ts";
import type { ApiReply, ApiStatus, Engine, ResourceRequest, UserInfo, VirtualResource } from "../types.ts";
import { Deadlines } from "./deadlines.ts";
import { parseDuration } from "./duration.ts";
import type { Exchange } from "./exchange.ts";
import { acceptsJson, jsonText, wantsIndented } from "./media-types.ts";
import { answerNonResource, isHealthPath, type ServerFacts } from "./non-resource.ts";
import { readRequestBody } from "./request-body.ts";
import { type NonResourceInfo, parseRequest, type RequestInfo, type ResourceInfo } from "./request-info.ts";
import type { RequestLog } from "./request-log.ts";
import { type OpenWatch, WatchStream } from "./watch-stream.ts";

/** How long a request may take, unless it asks for less by `timeout`, in milliseconds. */
const LONGEST_MS = 60_000;
const JSON_TYPE = { "content-type": "application/json" };
const TEXT_TYPE = { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" };

/** The parts of an API server that a request passes. */
export interface RequestHandlerOptions {
  readonly clock: Clock;
  readonly engine: Engine;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  readonly faults: Faults;
  readonly requestLog: RequestLog;
  readonly facts: ServerFacts;
  readonly virtual: readonly VirtualResource[];
}

/** A request that has come as far as its user. */
export interface KnownRequest {
  readonly info: RequestInfo;
  readonly user: UserInfo | undefined;
}

/** Takes requests through authentication, faults, authorisation and the engine, in a real API server's order. */
export class RequestHandler {
  readonly #options: RequestHandlerOptions;
  readonly #virtual: ReadonlyMap<string, VirtualResource>;
  readonly #watches = new Set<OpenWatch>();
  readonly #deadlines: Deadlines;

  constructor(options: RequestHandlerOptions) {
    this.#options = options;
    this.#deadlines = new Deadlines(options.clock);
    this.#virtual = new Map(options.virtual.map((v) => [virtualKey(v.group, v.version, v.resource, v.subresource), v]));
  }

  /** The watches that are open now. */
  get watches(): readonly OpenWatch[] {
    return [...this.#watches];
  }

  /** Ends the timer of the requests' time limits. */
  close(): void {
    this.#deadlines.close();
  }

  /** Answers one request; resolves when the answer is handed over or the client is gone. */
  async handle(exchange: Exchange, known: (request: KnownRequest) => void): Promise<void> {
    const { authenticator, faults, clock } = this.#options;
    const { request, connection } = exchange;
    const info = parseRequest(request.method ?? "GET", request.url ?? "/");
    const { authorization } = request.headers;
    const user = authenticator.authenticate({ authorization, certificate: connection.certificate });
    known({ info, user });
    const plan = faults.plan({ ...subjectOf(info), user: user?.username });
    const limitMs = limitOf(info);
    if (typeof limitMs === "object") return this.#refuse(exchange, statuses.badRequest(limitMs.problem));
    using limit = this.#deadlines.start(limitMs, exchange.signal);
    if (await applyFaults(plan.before, exchange, faults, clock, limit.signal)) return;
    if (user === undefined) return this.#refuse(exchange, statuses.unauthorized(), true);
    if (limit.expired()) return exchange.send(504, TOO_LATE, TEXT_TYPE);
    const acting = actingUser(user, exchange.request, this.#options.authorizer);
    if ("refused" in acting) return this.#refuse(exchange, acting.refused);
    await this.#authorised(exchange, info, acting.user, plan, limit);
  }

  async #authorised(
    exchange: Exchange,
    info: RequestInfo,
    user: UserInfo,
    plan: FaultPlan,
    limit: Deadline,
  ): Promise<void> {
    // An API server does not keep HTTP/2 connections of users that it does not know.
    const close = user === ANONYMOUS;
    if (info.kind === "methodNotAllowed") return this.#refuse(exchange, statuses.methodNotAllowedOnPath());
    const decision = this.#options.authorizer.decide(user, info);
    if (!decision.allowed) return this.#refuse(exchange, forbiddenStatus(user, info, decision.reason), close);
    if (info.kind === "nonResource") return this.#nonResource(exchange, info, close);
    const { engine } = this.#options;
    const { group, version, resource, subresource } = info;
    const virtual = this.#virtual.get(virtualKey(group, version, resource, subresource));
    if (virtual === undefined && !engine.serves(group, version, resource, subresource)) {
      if (subresource === undefined || !engine.serves(group, version, resource)) {
        return this.#notServed(exchange, engine.isBuiltIn(group), close);
      }
      if (engine.isBuiltIn(group)) return this.#refuse(exchange, statuses.pathNotFound(), close);
      // Custom resources answer for the object, not for the path.
      return this.#refuse(exchange, statuses.notFound(info, info.pathName ?? ""), close);
    }
    if (!acceptsJson(exchange.request.headers.accept)) {
      return this.#refuse(exchange, statuses.notAcceptable(!engine.isBuiltIn(group)), close);
    }
    if (info.verb === "watch") return this.#watch(exchange, info, user, plan);
    await this.#execute(exchange, info, user, plan, { limit, virtual });
  }

  async #nonResource(exchange: Exchange, info: NonResourceInfo, close: boolean): Promise<void> {
    const answer = answerNonResource(info.path, info.query, this.#options.facts);
    if (answer === undefined) return this.#notServed(exchange, this.#isOfBuiltIn(info.path), close);
    if (info.verb !== "get" && !isHealthPath(info.path)) {
      return this.#refuse(exchange, statuses.methodNotAllowedOnPath());
    }
    await exchange.send(answer.code, answer.body, { "content-type": answer.contentType }, close);
  }

  /** The server's own groups answer with a Status; what no group answers for, those of custom resources included, does not. */
  async #notServed(exchange: Exchange, byStatus: boolean, close: boolean): Promise<void> {
    if (byStatus) return this.#refuse(exchange, statuses.pathNotFound(), close);
    await exchange.send(404, statuses.PAGE_NOT_FOUND, TEXT_TYPE, close);
  }

  #isOfBuiltIn(path: string): boolean {
    const [, root, second] = path.split("/");
    if (root === "api") return second !== undefined;
    return root === "apis" && second !== undefined && this.#options.engine.isBuiltIn(second);
  }

  async #execute(
    exchange: Exchange,
    info: ResourceInfo,
    user: UserInfo,
    plan: FaultPlan,
    { limit, virtual }: { readonly limit: Deadline; readonly virtual: VirtualResource | undefined },
  ): Promise<void> {
    const { engine, faults, clock } = this.#options;
    const reads = info.verb === "get" || info.verb === "list";
    const body = reads ? undefined : await readRequestBody(exchange.request);
    if (body?.ok === false) return this.#refuse(exchange, body.error);
    const request = resourceRequest(info, user, limit.signal, body?.value);
    let reply: ApiReply;
    if (virtual === undefined) reply = await engine.execute(request);
    else if (info.verb === "create") reply = await virtual.create(request);
    else reply = statuses.reply(statuses.methodNotAllowedOnPath());
    if (plan.after.length > 0 && (await applyFaults(plan.after, exchange, faults, clock, limit.signal))) return;
    if (limit.expired()) return exchange.send(504, TOO_LATE, TEXT_TYPE);
    if (reply.plain !== undefined) return exchange.send(reply.code, reply.plain, TEXT_TYPE, user === ANONYMOUS);
    const headers = reply.headers === undefined ? JSON_TYPE : { ...reply.headers, ...JSON_TYPE };
    const indented = wantsIndented(info.query, exchange.request.headers["user-agent"]);
    await exchange.send(reply.code, jsonText(reply.body, indented), headers, user === ANONYMOUS);
  }

  async #watch(exchange: Exchange, info: ResourceInfo, user: UserInfo, plan: FaultPlan): Promise<void> {
    const stream = new WatchStream(exchange);
    armWatch([...plan.before, ...plan.after], stream);
    const reply = await this.#options.engine.watch(resourceRequest(info, user, stream.stopped, undefined));
    if (reply.kind === "refused") {
      const { code, body, headers } = reply.reply;
      return exchange.send(code, jsonText(body, false), { ...headers, ...JSON_TYPE });
    }
    const open: OpenWatch = {
      path: info.path,
      group: info.group,
      resource: info.resource,
      namespace: info.namespace,
      user: user.username,
      get events() {
        return stream.events;
      },
      fail: (fault) => stream.failAfter(fault, stream.events),
    };
    this.#watches.add(open);
    const closed = (): boolean => this.#watches.delete(open);
    exchange.signal.addEventListener("abort", closed, { once: true });
    await stream.run(reply.events).finally(closed);
  }

  async #refuse(exchange: Exchange, status: ApiStatus, close = false): Promise<void> {
    const { code, body, headers } = statuses.reply(status);
    await exchange.send(code, jsonText(body, false), { ...headers, ...JSON_TYPE }, close);
  }
}

/** What the time limit's filter answers in the handler's place: a Status that has neither kind nor type. */
const TOO_LATE = jsonText(
  {
    metadata: {},
    status: "Failure",
    message: "Timeout: request did not complete within the allotted timeout",
    reason: "Timeout",
    details: {},
    code: 504,
  },
  false,
);

/** A request's time limit in milliseconds, or what is wrong with the one that it asks for. Watches have limits of their own. */
function limitOf(info: RequestInfo): number | { readonly problem: string } {
  const asked = info.kind === "methodNotAllowed" ? null : info.query.get("timeout");
  if (asked === null || asked === "" || (info.kind === "resource" && info.verb === "watch")) return LONGEST_MS;
  const ms = parseDuration(asked);
  if (typeof ms === "object") return { problem: `invalid timeout specified in the request URL - ${ms.problem}` };
  return ms > 0 ? Math.min(ms, LONGEST_MS) : LONGEST_MS;
}

function virtualKey(group: string, version: string, resource: string, subresource: string | undefined): string {
  return `${group}/${version}/${resource}/${subresource ?? ""}`;
}

/** What faults and the log see of a request. */
export function subjectOf(info: RequestInfo): {
  readonly verb: string;
  readonly path: string;
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string | undefined;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
} {
  if (info.kind === "resource") return info;
  return info.kind === "nonResource" ? info : { verb: "", path: info.path };
}

function resourceRequest(
  info: ResourceInfo,
  user: UserInfo,
  signal: AbortSignal,
  body: { readonly contentType: string | undefined; readonly value: unknown } | undefined,
): ResourceRequest {
  return {
    verb: info.verb,
    group: info.group,
    version: info.version,
    resource: info.resource,
    query: info.query,
    user,
    signal,
    ...(info.subresource === undefined ? {} : { subresource: info.subresource }),
    ...(info.pathNamespace === undefined ? {} : { namespace: info.pathNamespace }),
    ...(info.pathName === undefined ? {} : { name: info.pathName }),
    ...(body?.contentType === undefined ? {} : { contentType: body.contentType }),
    ...(body?.value === undefined ? {} : { body: body.value }),
  };
}
