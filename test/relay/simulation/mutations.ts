import { decideEntry } from "../../../lib/relay/baton.ts";
import { RELAY_RULES } from "../../../lib/relay/rules.ts";
import type { Mutation } from "./scenario.ts";

/** A store that does not ask for the fence when a baton is taken. */
export const WITHOUT_FENCE_CONDITION: Mutation = {
  apply: ({ store }) => {
    store.expectation = (expect, change, stands) => {
      if (change.fence === undefined) return expect;
      return stands === undefined ? "absent" : {};
    };
  },
};

/** Rules by which an expired baton is taken at its expiry, as if all clocks were the same. */
export const WITHOUT_SKEW_MARGIN: Mutation = {
  rules: {
    ...RELAY_RULES,
    decideEntry: (record, own, nowMs, timing) => decideEntry(record, own, nowMs, { ...timing, skewMarginMs: 0 }),
  },
};

/** Rules by which a successor takes the baton first and prepares afterwards. */
export const TAKE_THEN_PREPARE: Mutation = {
  rules: {
    ...RELAY_RULES,
    decideEntry: (record, own, nowMs, timing) => decideEntry(record, { ...own, prepared: true }, nowMs, timing),
  },
};

/** Rules by which a successor writes at once, though its predecessor lives. */
export const WITHOUT_WAITING_FOR_PREDECESSOR: Mutation = {
  rules: {
    ...RELAY_RULES,
    decideEntry: (record, own, nowMs, timing) => {
      const decision = decideEntry(record, own, nowMs, timing);
      return decision.kind === "take" ? { ...decision, exclusiveFrom: undefined } : decision;
    },
  },
};
