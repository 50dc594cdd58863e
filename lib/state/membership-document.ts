import { closest, distance } from "fastest-levenshtein";
import * as v from "valibot";
import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { MembershipSpec } from "./membership.ts";

/**
 * The membership document: what a user writes to join a cluster. One schema for the command line, the event of
 * `bootstrap` and the API; `membership.schema.json` is made from it. Every text in it is bound to a form in which no
 * token, key or kubeconfig fits, and no message repeats a value: what was pasted by mistake is not shown again.
 */

const text = v.string("must be a text");

/** RFC 1123 label, as Kubernetes wants it for Namespaces. */
const label = v.pipe(
  text,
  v.maxLength(63, "is longer than 63 characters"),
  v.regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    "must consist of lower-case letters, digits and dashes, and begin and end with a letter or digit",
  ),
);

/** RFC 1123 subdomain, as Kubernetes wants it for most names. */
const subdomain = v.pipe(
  text,
  v.maxLength(253, "is longer than 253 characters"),
  v.regex(
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
    "must consist of lower-case letters, digits, dashes and dots, and begin and end with a letter or digit",
  ),
);

/** A text of one line that is no secret: neither PEM nor a JSON Web Token. */
const harmless = (maxLength: number) =>
  v.pipe(
    text,
    v.minLength(1, "is empty"),
    v.maxLength(maxLength, `is longer than ${maxLength} characters`),
    // No control characters, nothing that begins like PEM, no base64url header of a JSON Web Token.
    v.regex(
      /^(?!.*(-----BEGIN|eyJ[A-Za-z0-9_-]{8,}\.))[ -~\u00a0-\uffff]+$/,
      "must be one line and a reference, not the secret itself",
    ),
  );

const context = v.optional(harmless(253));

const fileReference = v.strictObject({ file: harmless(1024), context });
const ssmReference = v.strictObject({
  ssm: v.pipe(
    text,
    v.maxLength(1011, "is longer than 1,011 characters"),
    v.regex(
      /^\/[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+){0,14}$/,
      "must be the name of an SSM parameter, such as /clusters/east",
    ),
  ),
  context,
});

/** The schema of a membership document. */
export const membershipSchema = v.strictObject({
  cluster: label,
  protocol: v.picklist(["antrea"], "must be antrea"),
  access: v.strictObject({ kubeconfig: v.union([fileReference, ssmReference], "must name either a file or ssm") }),
  antrea: v.optional(
    v.strictObject({
      namespace: v.optional(label, "kube-system"),
      clusterSet: v.optional(subdomain),
      imports: v.optional(
        v.strictObject({
          labelIdentities: v.exactOptional(v.boolean("must be true or false")),
          namespaces: v.exactOptional(
            v.pipe(v.array(label, "must be a list of Namespaces"), v.maxLength(100, "has more than 100")),
          ),
        }),
      ),
    }),
    {},
  ),
  options: v.optional(
    v.strictObject({
      failureThreshold: v.optional(
        v.pipe(
          v.number("must be a number"),
          v.integer("must be a whole number"),
          v.minValue(1, "must be at least 1"),
          v.maxValue(100, "must be at most 100"),
        ),
        3,
      ),
      networkProfile: v.optional(label, "default"),
    }),
    {},
  ),
});

/** The keys that each part knows, for suggestions. */
const KNOWN_KEYS: Readonly<Record<string, readonly string[]>> = {
  "": Object.keys(membershipSchema.entries),
  access: ["kubeconfig"],
  "access.kubeconfig": ["file", "ssm", "context"],
  antrea: ["namespace", "clusterSet", "imports"],
  "antrea.imports": ["labelIdentities", "namespaces"],
  options: ["failureThreshold", "networkProfile"],
};

const REMEDIES: Readonly<Record<string, string>> = {
  cluster: "Give the cluster a name that is unique in this deployment, such as `cluster: east`.",
  protocol: "Write `protocol: antrea`.",
  access: "Say how the cluster is reached: `access: {kubeconfig: {ssm: /clusters/east}}`.",
  "access.kubeconfig": "Name one of `file: PATH` (on your own machine) or `ssm: /NAME` (an SSM parameter).",
  antrea: "Write `antrea: {namespace: NAMESPACE}`, or leave it out for the Namespace kube-system.",
  "antrea.imports.labelIdentities": "Write `labelIdentities: true` where Antrea's stretched network policies are used.",
  "antrea.imports.namespaces": "Name those that may be imported into: `namespaces: [shop]`; leave it out for all.",
};

/** Validates one membership document and fills in its defaults. Nothing that was given is repeated in an error. */
export function parseMembershipDocument(input: unknown): Result<MembershipSpec, readonly UserError[]> {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    const remedy = "Begin with `cluster: NAME` and `protocol: antrea`.";
    return failed([{ path: "", problem: "a membership is a mapping of fields to values", remedy }]);
  }
  if ("protocol" in input && input.protocol === "ocm") {
    const problem = "ocm is not supported by this version of Hawser";
    return failed([
      { path: "protocol", problem, remedy: "Use `protocol: antrea`, or wait for a version that joins OCM hubs." },
    ]);
  }
  const parsed = v.safeParse(membershipSchema, input);
  if (!parsed.success) return failed(parsed.issues.flatMap((issue) => userErrors(issue, [])));
  const { access, antrea, ...rest } = parsed.output;
  return ok({ ...rest, access: { kubeconfig: defined(access.kubeconfig) }, antrea: defined(antrea) });
}

type Issue = v.BaseIssue<unknown>;

function userErrors(issue: Issue, before: readonly string[]): UserError[] {
  const path = [...before, ...(issue.path ?? []).map((item) => String(item.key))];
  if (issue.type === "union") return kubeconfigErrors(issue.input, path);
  const name = path.join(".");
  const parent = path.slice(0, -1).join(".");
  if (issue.expected === "never") return [unknownKey(path.at(-1) ?? "", parent, name)];
  if (issue.received === "undefined") return [{ path: name, problem: "is missing", remedy: remedyOf(name) }];
  const problem = issue.type === "strict_object" ? "must be a mapping of fields to values" : issue.message;
  return [{ path: name, problem, remedy: remedyOf(name) }];
}

/** Of a reference that is neither: what is wrong with the kind that it seems to be. */
function kubeconfigErrors(input: unknown, path: readonly string[]): UserError[] {
  const name = path.join(".");
  const remedy = remedyOf(name);
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return [{ path: name, problem: "must be a mapping that names either a file or ssm", remedy }];
  }
  const [file, ssm] = ["file" in input, "ssm" in input];
  if (file && ssm) return [{ path: name, problem: "names both a file and ssm", remedy }];
  if (!file && !ssm) {
    const unknown = Object.keys(input).filter((key) => key !== "context");
    const problems = unknown.map((key) => unknownKey(key, name, `${name}.${key}`));
    return problems.length > 0 ? problems : [{ path: name, problem: "names neither a file nor ssm", remedy }];
  }
  const parsed = v.safeParse(file ? fileReference : ssmReference, input);
  return parsed.success ? [] : parsed.issues.flatMap((issue) => userErrors(issue, path));
}

function unknownKey(key: string, parent: string, path: string): UserError {
  const known = KNOWN_KEYS[parent] ?? [];
  const nearest = known.length === 0 ? undefined : closest(key, [...known]);
  const similar =
    nearest !== undefined && distance(key.toLowerCase(), nearest.toLowerCase()) <= Math.max(2, nearest.length / 3);
  const remedy = similar ? `Did you mean ${nearest}?` : `Known here: ${known.join(", ")}.`;
  return { path, problem: "is not a known field", remedy };
}

function remedyOf(path: string): string {
  return REMEDIES[path] ?? `Correct the value of ${path}; hawser join --help shows a document.`;
}

function defined<T extends object>(of: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
