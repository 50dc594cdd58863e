import { define } from "./define.ts";
import { flag, listOf, objectReference, struct, text } from "./description.ts";

/** v1 ServiceAccount. */
export const serviceAccounts = define({
  kind: "ServiceAccount",
  resource: "serviceaccounts",
  shortNames: ["sa"],
  namespaced: true,
  schema: struct({
    secrets: listOf(objectReference),
    imagePullSecrets: listOf(struct({ name: text })),
    automountServiceAccountToken: flag,
  }),
  strategy: { returnsDeleted: true },
});
