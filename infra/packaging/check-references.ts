import { loadResourceSchemas, schemaOf } from "./resource-schemas.ts";
import { intrinsic, type Template, textOf, type Value, walk } from "./template.ts";

const PSEUDO_PARAMETERS = new Set(
  ["AccountId", "NoValue", "NotificationARNs", "Partition", "Region", "StackId", "StackName", "URLSuffix"].map(
    (name) => `AWS::${name}`,
  ),
);

/**
 * Every `Ref`, `Fn::GetAtt`, `Fn::Sub` and `DependsOn` must lead to something: a parameter, a resource, an attribute that
 * the resource's type has. And no resource may depend on itself, however long the way.
 */
export async function checkReferences(template: Template): Promise<readonly string[]> {
  const db = await loadResourceSchemas();
  const problems: string[] = [];
  const edges = new Map<string, Set<string>>();
  const known = new Set([...Object.keys(template.Resources), ...Object.keys(template.Parameters ?? {})]);
  const hasAttribute = (id: string, attribute: string): boolean => {
    const spec = schemaOf(db, template.Resources[id]?.Type ?? "");
    return spec?.attributes[attribute] !== undefined || spec?.properties[attribute] !== undefined;
  };
  const check = (from: string, value: Value): void =>
    walk(value, from, (inner, path) => {
      for (const { id, attribute } of targets(inner)) {
        if (PSEUDO_PARAMETERS.has(id)) continue;
        if (!known.has(id)) problems.push(`${path}: there is no ${id}`);
        else if (attribute !== undefined && !hasAttribute(id, attribute)) {
          problems.push(`${path}: ${id} has no attribute ${attribute}`);
        }
        edges.set(from, (edges.get(from) ?? new Set()).add(id));
      }
    });
  for (const [id, resource] of Object.entries(template.Resources)) {
    check(id, resource.Properties ?? {});
    for (const other of [resource.DependsOn ?? []].flat()) check(id, { Ref: other });
  }
  for (const [id, output] of Object.entries(template.Outputs ?? {})) check(`Outputs.${id}`, output.Value);
  return [...problems, ...circles(edges)];
}

interface Target {
  readonly id: string;
  readonly attribute?: string;
}

function targets(value: Value): readonly Target[] {
  const call = intrinsic(value);
  if (call === undefined) return [];
  const { name, argument } = call;
  if (name === "Ref") return [{ id: textOf(argument) }];
  if (name === "Fn::GetAtt") return [attributeOf(Array.isArray(argument) ? argument.join(".") : textOf(argument))];
  if (name !== "Fn::Sub") return [];
  const text = Array.isArray(argument) ? textOf(argument[0]) : textOf(argument);
  const own = Array.isArray(argument) ? Object.keys((argument[1] ?? {}) as object) : [];
  return [...text.matchAll(/\$\{([^!}][^}]*)\}/g)]
    .map((match) => match[1] ?? "")
    .filter((name) => !own.includes(name))
    .map((name) => (name.includes(".") ? attributeOf(name) : { id: name }));
}

function attributeOf(path: string): Target {
  const dot = path.indexOf(".");
  return { id: path.slice(0, dot), attribute: path.slice(dot + 1) };
}

function circles(edges: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const reaches = (from: string, to: string, seen: Set<string>): boolean =>
    [...(edges.get(from) ?? [])].some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      return reaches(next, to, seen.add(next));
    });
  return [...edges.keys()].filter((id) => reaches(id, id, new Set())).map((id) => `${id}: depends on itself`);
}
