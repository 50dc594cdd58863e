import { arrayIn, isJsonObject, objectIn, textIn } from "../engine/json.ts";
import { invalid, notSupported } from "../field-error.ts";
import { badRequest, conflict, invalidObject, notFound, reply } from "../status.ts";
import type { ApiObject, ApiReply, Engine, ResourceRequest, VirtualResource } from "../types.ts";
import type { ServiceAccountTokens } from "./authentication-tokens.ts";

const KIND = { group: "authentication.k8s.io", kind: "TokenRequest" };
const ACCOUNTS = { group: "", resource: "serviceaccounts" };
const SECRETS = { group: "", resource: "secrets" };
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

/** `serviceaccounts/token`: tokens that expire, for audiences, bound to a Secret where asked. */
export function tokenRequests(tokens: ServiceAccountTokens, engine: () => Pick<Engine, "readOne">): VirtualResource {
  return {
    group: "",
    version: "v1",
    kind: KIND.kind,
    resource: "serviceaccounts",
    subresource: "token",
    kindGroup: { group: KIND.group, version: "v1" },
    namespaced: true,
    create: (request) => Promise.resolve(answer(request, tokens, engine())),
  };
}

function answer(request: ResourceRequest, tokens: ServiceAccountTokens, engine: Pick<Engine, "readOne">): ApiReply {
  const { namespace, name = "", body } = request;
  const account = engine.readOne("", "serviceaccounts", namespace, name);
  if (account === undefined) return reply(notFound(ACCOUNTS, name));
  if (!isJsonObject(body)) return reply(badRequest("the body must be a TokenRequest"));
  const spec = objectIn(body, "spec");
  const seconds = typeof spec["expirationSeconds"] === "number" ? spec["expirationSeconds"] : 3600;
  const field = "spec.expirationSeconds";
  if (seconds < MIN_SECONDS) {
    const error = invalid(field, seconds, "may not specify a duration less than 10 minutes");
    return reply(invalidObject(KIND, "", [error]));
  }
  if (seconds > MAX_SECONDS) {
    return reply(
      invalidObject(KIND, "", [invalid(field, seconds, "may not specify a duration larger than 2^32 seconds")]),
    );
  }
  const bound = boundSecret(objectIn(spec, "boundObjectRef"), namespace, engine);
  if ("refused" in bound) return bound.refused;
  const audiences = arrayIn(spec, "audiences").filter((a) => typeof a === "string");
  const issued = tokens.issueBound(account, { audiences, expiresInS: seconds, ...bound });
  return { code: 201, body: tokenRequest(account, { ...spec, audiences, expirationSeconds: seconds }, issued) };
}

function tokenRequest(account: ApiObject, spec: object, issued: { token: string; expires: Date }): ApiReply["body"] {
  const { name, namespace } = account.metadata;
  return {
    kind: KIND.kind,
    apiVersion: `${KIND.group}/v1`,
    metadata: { name, namespace },
    spec,
    status: { token: issued.token, expirationTimestamp: `${issued.expires.toISOString().slice(0, 19)}Z` },
  };
}

type Bound = { readonly secret?: { readonly name: string; readonly uid: string } } | { readonly refused: ApiReply };

function boundSecret(
  ref: ReturnType<typeof objectIn>,
  namespace: string | undefined,
  engine: Pick<Engine, "readOne">,
): Bound {
  const kind = textIn(ref, "kind");
  if (kind === "") return {};
  if (kind !== "Secret") {
    const error = notSupported("spec.boundObjectRef.kind", kind, ["Secret"]);
    return { refused: reply(invalidObject(KIND, "", [error])) };
  }
  const name = textIn(ref, "name");
  const uid = engine.readOne("", "secrets", namespace, name)?.metadata.uid;
  if (uid === undefined) return { refused: reply(notFound(SECRETS, name)) };
  const asked = textIn(ref, "uid");
  if (asked !== "" && asked !== uid) {
    const why = `the UID in the bound object reference (${asked}) does not match the UID in record. The object might have been deleted and then recreated`;
    return { refused: reply(conflict(SECRETS, name, why)) };
  }
  return { secret: { name, uid } };
}
