import { isMap, type Template, type TemplateResource, textOf, type Value, walk } from "./template.ts";

/** Resources whose policy cannot name itself: in a key's policy `*` is the key. */
const STAR_IS_ITSELF = new Set(["AWS::KMS::Key"]);

/** Shapes of secrets, and names of settings that would hold one. */
const SECRET = /-----BEGIN|\beyJ[A-Za-z0-9_-]{10,}\.|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bBearer\s/;
const SECRET_SETTING = /(?:TOKEN|PASSWORD|SECRET|PRIVATE_KEY|KUBECONFIG)$/;

/**
 * Hawser's own rules for its template: arm64 and the current runtime, no retries and short event age for every function,
 * no reserved concurrency, a role of its own, no `*` resource or action in a policy, and nothing that looks like a secret.
 */
export function checkRules(template: Template, runtime: string): readonly string[] {
  return Object.entries(template.Resources).flatMap(([id, resource]) => [
    ...(resource.Type === "AWS::Lambda::Function" ? checkFunction(template, id, resource, runtime) : []),
    ...(STAR_IS_ITSELF.has(resource.Type) ? [] : checkPolicies(id, resource)),
    ...checkSecrets(id, resource),
  ]);
}

function checkFunction(template: Template, id: string, resource: TemplateResource, runtime: string): readonly string[] {
  const properties = resource.Properties ?? {};
  const invoke = Object.values(template.Resources).find(
    ({ Type, Properties }) =>
      Type === "AWS::Lambda::EventInvokeConfig" && JSON.stringify(Properties?.FunctionName ?? "").includes(id),
  )?.Properties;
  const sameRole = Object.entries(template.Resources).filter(
    ([, other]) => JSON.stringify(other.Properties?.Role ?? "") === JSON.stringify(properties.Role),
  );
  const rules: readonly (readonly [boolean, string])[] = [
    [JSON.stringify(properties.Architectures) === '["arm64"]', "runs on arm64"],
    [properties.Runtime === runtime, `runs on ${runtime}`],
    [properties.ReservedConcurrentExecutions === undefined, "has no reserved concurrency"],
    [sameRole.length === 1, "has a role of its own"],
    [invoke?.MaximumRetryAttempts === 0, "is not retried"],
    [invoke?.MaximumEventAgeInSeconds === 60, "drops events after 60 s"],
  ];
  return rules.filter(([holds]) => !holds).map(([, rule]) => `${id}: a function ${rule}, this one does not`);
}

function checkPolicies(id: string, resource: TemplateResource): readonly string[] {
  const problems: string[] = [];
  walk(resource.Properties ?? {}, id, (value, path) => {
    if (!isMap(value) || value.Effect !== "Allow") return;
    for (const field of ["Resource", "Action"] as const) {
      const all = [value[field] ?? []].flat() as readonly Value[];
      if (all.some((one) => one === "*" || (field === "Action" && textOf(one).endsWith(":*")))) {
        problems.push(`${path}: ${field} allows everything`);
      }
    }
  });
  return problems;
}

function checkSecrets(id: string, resource: TemplateResource): readonly string[] {
  const problems: string[] = [];
  walk(resource.Properties ?? {}, id, (value, path) => {
    if (typeof value === "string" && (SECRET.test(value) || SECRET_SETTING.test(path))) {
      problems.push(`${path}: looks like a secret`);
    }
  });
  return problems;
}
