/** A value in a CloudFormation template. */
export type Value = null | boolean | number | string | readonly Value[] | { readonly [name: string]: Value };

/** One resource of a template. */
export interface TemplateResource {
  readonly Type: string;
  readonly Properties?: { readonly [name: string]: Value };
  readonly DependsOn?: string | readonly string[];
  readonly [field: string]: unknown;
}

/** A CloudFormation template, as far as the checks read it. */
export interface Template {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Outputs?: Readonly<Record<string, { readonly Value: Value; readonly [field: string]: unknown }>>;
  readonly Parameters?: Readonly<Record<string, unknown>>;
}

/** True for an object that is not a list. */
export function isMap(value: unknown): value is { readonly [name: string]: Value } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An intrinsic function that stands where a value would (`Ref`, `Fn::GetAtt`, `Fn::Sub`, ...): its name and argument. */
export function intrinsic(value: Value): { readonly name: string; readonly argument: Value } | undefined {
  if (!isMap(value)) return undefined;
  const entries = Object.entries(value);
  const [name, argument] = entries.length === 1 ? (entries[0] ?? []) : [];
  if (name === undefined || argument === undefined) return undefined;
  return name === "Ref" || name.startsWith("Fn::") ? { name, argument } : undefined;
}

/** The value as text; empty for what is no text. */
export function textOf(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Calls `visit` for a value and everything in it, with the path to it. */
export function walk(value: Value, path: string, visit: (value: Value, path: string) => void): void {
  visit(value, path);
  if (Array.isArray(value)) for (const [i, item] of value.entries()) walk(item, `${path}[${i}]`, visit);
  else if (isMap(value)) for (const [name, item] of Object.entries(value)) walk(item, `${path}.${name}`, visit);
}
