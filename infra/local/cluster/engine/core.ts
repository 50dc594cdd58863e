import type { Clock } from "../../../../lib/base/clock.ts";
import type { Ids } from "../../../../lib/base/ids.ts";
import type { Random } from "../../../../lib/base/random.ts";
import type { Admission, ApiReply, ApiStatus, UserInfo } from "../types.ts";
import type { Registry } from "./registry.ts";
import type { ResourceType, ResourceVersion, StrategyContext } from "./resource-type.ts";
import type { Store } from "./storage/store.ts";

/** What every part of the engine works with. */
export interface Core {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly store: Store;
  readonly registry: Registry;
  readonly admission: Admission;
}

/** A resource in the version that was asked for. */
export interface Located {
  readonly type: ResourceType;
  readonly version: ResourceVersion;
}

/** What strategies may look at, on behalf of a user. */
export function strategyContext(core: Core, user: UserInfo): StrategyContext {
  return {
    clock: core.clock,
    user,
    read: (table, key) => core.store.get(table, key),
    list: (table, namespace) => core.store.list(table, namespace),
  };
}

/** Now as metadata shows it: whole seconds, UTC. */
export function timestamp(clock: Clock): string {
  return `${clock.now().toISOString().slice(0, 19)}Z`;
}

/** Characters of warnings that one answer carries at most; when there are more, each is cut. */
const WARNINGS_LIMIT = 4096;
const WARNING_CUT = 256;

/**
 * The answer with warnings as headers, before those that it has; several share one header, as HTTP allows. What cannot
 * stand in a header is left out.
 */
export function withWarnings(answer: ApiReply, warnings: readonly string[]): ApiReply {
  if (warnings.length === 0) return answer;
  const sendable = [...new Set(warnings)].filter((warning) => warning !== "" && !/\p{Cc}/u.test(warning));
  if (sendable.length === 0) return answer;
  const long = sendable.reduce((sum, warning) => sum + warning.length, 0) > WARNINGS_LIMIT;
  const lines = sendable.map((warning) => {
    const shown = long ? warning.slice(0, WARNING_CUT) : warning;
    return `299 - "${shown.replaceAll(/["\\]/g, (c) => `\\${c}`)}"`;
  });
  const before = answer.headers?.["Warning"];
  const all = before === undefined ? lines : [...lines, before];
  return { ...answer, headers: { ...answer.headers, Warning: all.join(", ") } };
}

/** A refusal, told apart from other values by its key. */
export interface Refused {
  readonly refused: ApiStatus;
}

/** True for a refusal. */
export function isRefused(value: object): value is Refused {
  return "refused" in value;
}
