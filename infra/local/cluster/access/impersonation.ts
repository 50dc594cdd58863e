import { badRequest } from "../status.ts";
import type { ApiStatus, UserInfo } from "../types.ts";
import { type Authorizer, forbiddenStatus } from "./authorization.ts";
import type { AccessAttributes } from "./authorization-rules.ts";

const PREFIX = "impersonate-";
const EXTRA = "impersonate-extra-";
const AUTHENTICATION = "authentication.k8s.io";
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** The headers of a request, as far as they matter here. */
export interface ImpersonationHeaders {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Name, value, name, value; a header that is sent twice stands there twice. */
  readonly rawHeaders: readonly string[];
}

/** For whom a request is made. */
export type ActingUser = { readonly user: UserInfo } | { readonly refused: ApiStatus };

/**
 * The user whom the headers `Impersonate-User`, `-Group`, `-Uid` and `-Extra-...` name, where whoever asks may
 * `impersonate` each of them; without these headers it is who asks.
 */
export function actingUser(user: UserInfo, request: ImpersonationHeaders, authorizer: Authorizer): ActingUser {
  const { headers } = request;
  const named = headers["impersonate-user"];
  if (typeof named !== "string") {
    const alone = headers["impersonate-group"] ?? headers["impersonate-uid"];
    return alone === undefined ? { user } : { refused: badRequest("requested without impersonating a user name") };
  }
  const wanted = wantedUser(named, request.rawHeaders);
  for (const asked of rightsFor(wanted)) {
    const { allowed, reason } = authorizer.decide(user, asked);
    if (!allowed) return { refused: forbiddenStatus(user, asked, reason) };
  }
  return { user: withGroups(wanted) };
}

function wantedUser(username: string, rawHeaders: readonly string[]): UserInfo {
  const groups: string[] = [];
  const extra: Record<string, string[]> = {};
  let uid: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] ?? "").toLowerCase();
    const value = rawHeaders[i + 1] ?? "";
    if (!name.startsWith(PREFIX)) continue;
    if (name === "impersonate-group") groups.push(value);
    else if (name === "impersonate-uid") uid = value;
    else if (name.startsWith(EXTRA)) (extra[decodeURIComponent(name.slice(EXTRA.length))] ??= []).push(value);
  }
  return {
    username,
    groups,
    ...(uid === undefined ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** The rights that it takes, one for each thing that is said of the user. */
function rightsFor({ username, groups, uid, extra = {} }: UserInfo): readonly AccessAttributes[] {
  const right = (resource: string, name: string, more: object = {}): AccessAttributes => ({
    kind: "resource",
    verb: "impersonate",
    group: "",
    resource,
    name,
    ...more,
  });
  const [, namespace, account] = ACCOUNT.exec(username) ?? [];
  return [
    account === undefined ? right("users", username) : right("serviceaccounts", account, { namespace }),
    ...groups.map((group) => right("groups", group)),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map((value) => right("userextras", value, { group: AUTHENTICATION, subresource })),
    ),
    ...(uid === undefined ? [] : [right("uids", uid, { group: AUTHENTICATION })]),
  ];
}

/** Nobody goes without the groups that the server itself gives. */
function withGroups(user: UserInfo): UserInfo {
  const [, namespace] = ACCOUNT.exec(user.username) ?? [];
  const ofAccount = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  const own = user.groups.length === 0 && namespace !== undefined ? ofAccount : user.groups;
  if (user.username === "system:anonymous")
    return { ...user, groups: [...new Set([...own, "system:unauthenticated"])] };
  return { ...user, groups: [...new Set([...own, "system:authenticated"])] };
}
