import { define } from "../engine/builtin/define.ts";
import { int64, struct, text, texts } from "../engine/builtin/description.ts";
import { arrayIn, isJsonObject, type JsonObject, objectIn, textIn } from "../engine/json.ts";
import { type FieldError, invalid } from "../field-error.ts";
import { badRequest, conflict, invalidObject, notFound, reply } from "../status.ts";
import type { ApiObject, ApiReply, ApiStatus, Engine, ResourceRequest, VirtualResource } from "../types.ts";
import { API_AUDIENCE, type ServiceAccountTokens } from "./authentication-tokens.ts";
import { question } from "./question.ts";

const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };
const ACCOUNTS = { group: "", resource: "serviceaccounts" };
/** What tokens are bound to in a real cluster. The simulated one binds to Secrets alone. */
const BINDS: ReadonlyMap<string, string> = new Map([
  ["Secret", "secrets"],
  ["Pod", "pods"],
  ["Node", "nodes"],
]);
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;
const DEFAULT_SECONDS = 3600;

const TOKEN_REQUEST = define({
  ...KIND,
  resource: "tokenrequests",
  namespaced: true,
  schema: struct({
    spec: struct({
      audiences: texts,
      expirationSeconds: int64,
      boundObjectRef: struct({ kind: text, apiVersion: text, name: text, uid: text }),
    }),
  }),
});

type Reader = Pick<Engine, "readOne">;
type Refused = { readonly refused: ApiReply };

/** `serviceaccounts/token`: tokens that expire, for audiences, bound to a Secret where asked. */
export function tokenRequests(tokens: ServiceAccountTokens, engine: () => Reader): VirtualResource {
  return question(TOKEN_REQUEST, (object, request) => answer(object, request, tokens, engine()), {
    group: "",
    resource: "serviceaccounts",
    subresource: "token",
    namespaced: true,
  });
}

function answer(
  object: ApiObject,
  { namespace, name = "" }: ResourceRequest,
  tokens: ServiceAccountTokens,
  engine: Reader,
): object | Refused {
  const account = engine.readOne("", "serviceaccounts", namespace, name);
  if (account === undefined) return refuse(notFound(ACCOUNTS, name));
  const named = object.metadata.name;
  if (named !== undefined && named !== name) {
    const error = invalid("metadata.name", named, "must match the service account name if specified");
    return refuse(invalidObject(KIND, name, [error]));
  }
  const spec = objectIn(object, "spec");
  const asked = spec["expirationSeconds"];
  const seconds = typeof asked === "number" ? asked : DEFAULT_SECONDS;
  const error = secondsError(seconds);
  if (error !== undefined) return refuse(invalidObject(KIND, "", [error]));
  const bound = boundSecret(spec["boundObjectRef"], namespace, engine);
  if ("refused" in bound) return bound;
  const texts = arrayIn(spec, "audiences").filter((a) => typeof a === "string");
  const audiences = texts.length === 0 ? [API_AUDIENCE] : texts;
  const issued = tokens.issueBound(account, { audiences, expiresInS: seconds, ...bound });
  const { uid, creationTimestamp } = account.metadata;
  return {
    ...object,
    metadata: { name, namespace, uid, creationTimestamp },
    spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec["boundObjectRef"] ?? null },
    status: { token: issued.token, expirationTimestamp: `${issued.expires.toISOString().slice(0, 19)}Z` },
  };
}

function refuse(status: ApiStatus): Refused {
  return { refused: reply(status) };
}

function secondsError(seconds: number): FieldError | undefined {
  const why =
    seconds < MIN_SECONDS
      ? "may not specify a duration less than 10 minutes"
      : seconds > MAX_SECONDS
        ? "may not specify a duration larger than 2^32 seconds"
        : undefined;
  return why === undefined ? undefined : invalid("spec.expirationSeconds", seconds, why);
}

type Bound = { readonly secret?: { readonly name: string; readonly uid: string } } | Refused;

function boundSecret(reference: unknown, namespace: string | undefined, engine: Reader): Bound {
  if (!isJsonObject(reference)) return {};
  const [kind, name, asked] = wordsOf(reference);
  const resource = BINDS.get(kind);
  if (resource === undefined) {
    const version = textIn(reference, "apiVersion");
    const shown = version.includes("/") ? version : `/${version}`;
    return refuse(badRequest(`cannot bind token to object of type ${shown}, Kind=${kind}`));
  }
  const uid = kind === "Secret" ? engine.readOne("", resource, namespace, name)?.metadata.uid : undefined;
  if (uid === undefined) return refuse(notFound({ group: "", resource }, name));
  if (asked !== "" && asked !== uid) {
    const why = `the UID in the bound object reference (${asked}) does not match the UID in record. The object might have been deleted and then recreated`;
    return refuse(conflict({ group: "", resource: kind }, name, why));
  }
  return { secret: { name, uid } };
}

function wordsOf(reference: JsonObject): readonly [kind: string, name: string, uid: string] {
  return [textIn(reference, "kind"), textIn(reference, "name"), textIn(reference, "uid")];
}
