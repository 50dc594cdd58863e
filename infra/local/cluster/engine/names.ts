const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const DNS_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const LABEL_WORDS =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
const SUBDOMAIN_WORDS =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
const DNS_1035_WORDS =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const QUALIFIED_WORDS =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const LABEL_VALUE_WORDS =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** Complaints about a name that must be a DNS subdomain; a prefix (generateName) may end with a dash. */
export function subdomainProblems(name: string, prefix = false): readonly string[] {
  return problems(masked(name, prefix), {
    max: 253,
    form: SUBDOMAIN,
    words: SUBDOMAIN_WORDS,
    examples: ["example.com"],
  });
}

/** Complaints about a name that must be a DNS label, as those of Namespaces. */
export function labelProblems(name: string, prefix = false): readonly string[] {
  if (name.includes(".") && subdomainProblems(name, prefix).length === 0) return ["must not contain dots"];
  return problems(masked(name, prefix), { max: 63, form: LABEL, words: LABEL_WORDS, examples: ["my-name", "123-abc"] });
}

/** Complaints about a name that must be a DNS-1035 label, as those of Services. */
export function dns1035Problems(name: string, prefix = false): readonly string[] {
  return problems(masked(name, prefix), {
    max: 63,
    form: DNS_1035,
    words: DNS_1035_WORDS,
    examples: ["my-name", "abc-123"],
  });
}

/** Complaints about a name that only has to fit into a path, as those of Roles. */
export function pathSegmentProblems(name: string, prefix = false): readonly string[] {
  if (!prefix && (name === "." || name === "..")) return [`may not be '${name}'`];
  return ["/", "%"].filter((c) => name.includes(c)).map((c) => `may not contain '${c}'`);
}

/** Complaints about a label key, an annotation key or a finalizer: `prefix/name`. */
export function qualifiedNameProblems(text: string): readonly string[] {
  const parts = text.split("/");
  const examples = ["MyName", "my.name", "123-abc"];
  if (parts.length > 2) {
    const words = regexWords(`a qualified name ${QUALIFIED_WORDS}`, QUALIFIED, examples);
    return [`${words} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const found: string[] = [];
  const name = parts.at(-1) ?? "";
  const prefix = parts.length === 2 ? parts[0] : undefined;
  if (prefix === "") found.push("prefix part must be non-empty");
  else if (prefix !== undefined) found.push(...subdomainProblems(prefix).map((p) => `prefix part ${p}`));
  if (name === "") found.push("name part must be non-empty");
  else if (name.length > 63) found.push("name part must be no more than 63 characters");
  if (!matches(QUALIFIED, name)) found.push(`name part ${regexWords(QUALIFIED_WORDS, QUALIFIED, examples)}`);
  return found;
}

/** Complaints about a label's value. */
export function labelValueProblems(value: string): readonly string[] {
  const form = `(${QUALIFIED})?`;
  return problems(value, { max: 63, form, words: LABEL_VALUE_WORDS, examples: ["MyValue", "my_value", "12345"] });
}

interface Rule {
  readonly max: number;
  readonly form: string;
  readonly words: string;
  readonly examples: readonly string[];
}

function problems(text: string, rule: Rule): readonly string[] {
  const long = Buffer.byteLength(text) > rule.max ? [`must be no more than ${rule.max} characters`] : [];
  return matches(rule.form, text) ? long : [...long, regexWords(rule.words, rule.form, rule.examples)];
}

const compiled = new Map<string, RegExp>();

function matches(form: string, text: string): boolean {
  let expression = compiled.get(form);
  if (expression === undefined) {
    expression = new RegExp(`^${form}$`);
    compiled.set(form, expression);
  }
  return expression.test(text);
}

function regexWords(words: string, form: string, examples: readonly string[]): string {
  return `${words} (e.g. ${examples.map((e) => `'${e}', `).join(" or ")}regex used for validation is '${form}')`;
}

/** A prefix that ends with a dash is fine: what follows makes it a good name. */
function masked(name: string, prefix: boolean): string {
  return prefix && name.length > 1 && name.endsWith("-") ? `${name.slice(0, -2)}a` : name;
}
