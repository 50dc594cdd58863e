/** Collects the names and values of one request's expressions under placeholders: names may be reserved words. */
export class Placeholders {
  readonly #names = new Map<string, string>();
  readonly #values: Record<string, unknown> = {};
  #count = 0;

  name(name: string): string {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    const placeholder = `#n${this.#names.size}`;
    this.#names.set(name, placeholder);
    return placeholder;
  }

  value(value: unknown): string {
    const placeholder = `:v${this.#count++}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  /** The names as the API wants them; undefined when there are none, as an empty map is refused. */
  names(): Record<string, string> | undefined {
    return this.#names.size === 0 ? undefined : Object.fromEntries([...this.#names].map(([name, p]) => [p, name]));
  }

  values(): Record<string, unknown> | undefined {
    return this.#count === 0 ? undefined : this.#values;
  }
}

/** A part of an expression. */
export type Expression = (placeholders: Placeholders) => string;

/** The path of an attribute: `path("summary", "state")`. */
export function path(...parts: readonly string[]): Expression {
  return (p) => parts.map((part) => p.name(part)).join(".");
}

/** A value. */
export function value(of: unknown): Expression {
  return (p) => p.value(of);
}

/** An expression in the API's own words: `` expr`${path("fence")} = ${value(7)}` ``. */
export function expr(words: TemplateStringsArray, ...parts: readonly Expression[]): Expression {
  return (p) => words.reduce((text, word, i) => `${text}${parts[i - 1]?.(p) ?? ""}${word}`);
}

/** All of the given conditions; undefined when there are none. */
export function allOf(conditions: readonly Expression[]): Expression | undefined {
  if (conditions.length === 0) return undefined;
  return (p) => conditions.map((condition) => `(${condition(p)})`).join(" AND ");
}

/** An update that sets and removes attributes; an attribute that is `undefined` is removed. */
export function assign(attributes: Readonly<Record<string, unknown>>, more: readonly Expression[] = []): Expression {
  return (p) => {
    const entries = Object.entries(attributes);
    const set = entries.filter(([, v]) => v !== undefined).map(([name, v]) => `${p.name(name)} = ${p.value(v)}`);
    const sets = [...set, ...more.map((part) => part(p))];
    const removes = entries.filter(([, v]) => v === undefined).map(([name]) => p.name(name));
    return [
      ...(sets.length > 0 ? [`SET ${sets.join(", ")}`] : []),
      ...(removes.length > 0 ? [`REMOVE ${removes.join(", ")}`] : []),
    ].join(" ");
  };
}
