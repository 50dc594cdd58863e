import { define } from "../engine/builtin/define.ts";
import { struct, text, texts } from "../engine/builtin/description.ts";
import { arrayIn, objectIn, textIn } from "../engine/json.ts";
import { badRequest, reply } from "../status.ts";
import type { VirtualResource } from "../types.ts";
import type { Authenticator } from "./authentication.ts";
import { API_AUDIENCE } from "./authentication-tokens.ts";
import { question } from "./question.ts";

const GROUP = "authentication.k8s.io";

/** The questions who somebody is: who asks, and whom a token stands for. */
export function identityReviews(authenticator: Authenticator): readonly VirtualResource[] {
  const self = define({
    group: GROUP,
    kind: "SelfSubjectReview",
    resource: "selfsubjectreviews",
    namespaced: false,
    schema: struct({}),
  });
  const token = define({
    group: GROUP,
    kind: "TokenReview",
    resource: "tokenreviews",
    namespaced: false,
    schema: struct({ spec: struct({ token: text, audiences: texts }) }),
  });
  return [
    question(self, (object, { user }) => ({ ...object, status: { userInfo: user } })),
    question(token, (object) => {
      const spec = objectIn(object, "spec");
      const asked = textIn(spec, "token");
      if (asked === "") return { refused: reply(badRequest("token is required for TokenReview in authentication")) };
      const named = arrayIn(spec, "audiences").filter((a) => typeof a === "string");
      const audiences = named.length === 0 ? [API_AUDIENCE] : named;
      const user = authenticator.byToken(asked, audiences);
      const status =
        user === undefined ? { user: {}, error: "invalid bearer token" } : { authenticated: true, user, audiences };
      return { ...object, status };
    }),
  ];
}
