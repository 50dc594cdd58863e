import { loadResourceSchemas, type ResourceSchemas, schemaOf } from "./resource-schemas.ts";
import { intrinsic, isMap, type Template, type Value } from "./template.ts";

type Properties = NonNullable<ReturnType<typeof schemaOf>>["properties"];
type PropertyType = Properties[string]["type"];

/**
 * Holds every resource against CloudFormation's own schemas: unknown types and properties, missing required ones, values
 * of the wrong kind or outside the allowed ones. An intrinsic function may stand for any value.
 */
export async function checkSchema(template: Template): Promise<readonly string[]> {
  const db = await loadResourceSchemas();
  return Object.entries(template.Resources).flatMap(([id, resource]) => {
    const spec = schemaOf(db, resource.Type);
    if (spec === undefined) return [`${id}: there is no resource type ${resource.Type}`];
    return checkProperties(db, spec.properties, resource.Properties ?? {}, id);
  });
}

function checkProperties(
  db: ResourceSchemas,
  specs: Properties,
  given: { readonly [name: string]: Value },
  path: string,
): readonly string[] {
  const missing = Object.entries(specs)
    .filter(([name, spec]) => spec.required === true && given[name] === undefined)
    .map(([name]) => `${path}: ${name} is required`);
  const wrong = Object.entries(given).flatMap(([name, value]) => {
    const spec = specs[name];
    if (spec === undefined) return [`${path}: there is no property ${name}`];
    return checkValue(db, spec.type, value, `${path}.${name}`);
  });
  return [...missing, ...wrong];
}

function checkValue(db: ResourceSchemas, type: PropertyType, value: Value, path: string): readonly string[] {
  if (intrinsic(value) !== undefined) return [];
  switch (type.type) {
    case "ref": {
      if (!isMap(value)) return [`${path}: must be an object`];
      return checkProperties(db, db.get("typeDefinition", type.reference.$ref).properties, value, path);
    }
    case "array":
      if (!Array.isArray(value)) return [`${path}: must be a list`];
      return value.flatMap((item, i) => checkValue(db, type.element, item, `${path}[${i}]`));
    case "map":
      if (!isMap(value)) return [`${path}: must be an object`];
      return Object.entries(value).flatMap(([name, item]) => checkValue(db, type.element, item, `${path}.${name}`));
    case "union": {
      const tries = type.types.map((one) => checkValue(db, one, value, path));
      return tries.some((problems) => problems.length === 0) ? [] : (tries[0] ?? []);
    }
    case "json":
      return isMap(value) || typeof value === "string" ? [] : [`${path}: must be a JSON object`];
    case "tag":
      return isMap(value) && value.Key !== undefined && value.Value !== undefined ? [] : [`${path}: must be a tag`];
    default:
      return checkPrimitive(type, value, path);
  }
}

/** CloudFormation takes a number for a string and the other way round where the text fits. */
function checkPrimitive(type: PropertyType, value: Value, path: string): readonly string[] {
  const fits: Readonly<Record<string, boolean>> = {
    string: typeof value === "string" || typeof value === "number",
    "date-time": typeof value === "string",
    integer: Number.isInteger(value),
    number: typeof value === "number",
    boolean: typeof value === "boolean",
    null: value === null,
  };
  if (fits[type.type] !== true) return [`${path}: must be of the type ${type.type}`];
  const allowed = "allowedValues" in type ? type.allowedValues : undefined;
  if (allowed === undefined || allowed.some((one) => one === value)) return [];
  return [`${path}: ${JSON.stringify(value)} is none of ${allowed.join(", ")}`];
}
