import { sameMeaning } from "./canonical.ts";
import { isRecord } from "./resource-import.ts";

/** The tier that Antrea puts a policy into which names none. */
const DEFAULT_TIER = "application";

/** Names that tiers had before they became objects; Antrea reads them as the tiers of today. */
const LEGACY_TIERS = new Set(["Emergency", "SecurityOps", "NetworkOps", "Platform", "Application", "Baseline"]);

/** What Antrea's mutating webhook calls a rule that has no name: direction, action, seven hexadecimal digits. */
const GENERATED_NAME = /^(ingress|egress)-(allow|drop|reject|pass)-[0-9a-f]{7}$/;

/** The tier that a policy's spec belongs to, as the object is named. */
export function tierOf(spec: Readonly<Record<string, unknown>>): string {
  const { tier } = spec;
  if (typeof tier !== "string" || tier === "") return DEFAULT_TIER;
  return LEGACY_TIERS.has(tier) ? tier.toLowerCase() : tier;
}

/** The spec to write: as the import has it, with the tier's name of today. */
export function policySpec(spec: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return typeof spec["tier"] === "string" && spec["tier"] !== "" ? { ...spec, tier: tierOf(spec) } : spec;
}

/** Whether a policy says what the import asks for, whatever Antrea's webhook has added to what was left out. */
export function samePolicy(wanted: Readonly<Record<string, unknown>>, shown: unknown): boolean {
  if (!isRecord(shown)) return false;
  return sameMeaning(comparable(wanted, undefined), comparable(shown, wanted));
}

function comparable(
  spec: Readonly<Record<string, unknown>>,
  wanted: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> {
  const rules = (direction: string): unknown => withoutGenerated(spec[direction], (wanted ?? spec)[direction]);
  return { ...spec, tier: tierOf(spec), ingress: rules("ingress"), egress: rules("egress") };
}

/** A generated name says nothing where the import gives the rule of that place none. */
function withoutGenerated(rules: unknown, wanted: unknown): unknown {
  if (!Array.isArray(rules)) return rules;
  return rules.map((rule: unknown, i) => {
    if (!isRecord(rule)) return rule;
    const { name, ...rest } = rule;
    const given: unknown = Array.isArray(wanted) ? wanted[i] : undefined;
    const isGiven = isRecord(given) && typeof given["name"] === "string" && given["name"] !== "";
    const generated = typeof name !== "string" || name === "" || GENERATED_NAME.test(name);
    return !isGiven && generated ? rest : rule;
  });
}
