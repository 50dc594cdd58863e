import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { Ajv } from "ajv";
import fc from "fast-check";
import { MEMBERSHIP_SCHEMA_FILE, membershipJsonSchema } from "../../infra/membership-schema.ts";
import type { UserError } from "../../lib/base/user-error.ts";
import { parseMembershipDocument } from "../../lib/state/membership-document.ts";
import { parseMembershipDocuments } from "../../lib/state/membership-documents.ts";

const minimal = { cluster: "east", protocol: "antrea", access: { kubeconfig: { ssm: "/clusters/east" } } };

function errorsOf(input: unknown): readonly UserError[] {
  const parsed = parseMembershipDocument(input);
  return parsed.ok ? [] : parsed.error;
}

test("the shortest document gets its defaults", () => {
  const parsed = parseMembershipDocument(minimal);

  assert.deepEqual(parsed, {
    ok: true,
    value: {
      ...minimal,
      antrea: { namespace: "kube-system" },
      options: { failureThreshold: 3, networkProfile: "default" },
    },
  });
});

test("a document that was read is read again as the same", () => {
  const full = {
    ...minimal,
    access: { kubeconfig: { file: "./east.kubeconfig", context: "admin@east" } },
    antrea: {
      namespace: "antrea-multicluster",
      clusterSet: "test-clusterset",
      imports: { labelIdentities: true, namespaces: ["shop", "kube-system"] },
    },
    options: { failureThreshold: 5, networkProfile: "vpc-a" },
  };

  const once = parseMembershipDocument(full);

  assert.deepEqual(once, { ok: true, value: full });
});

test("an unknown field is refused with the nearest known one", () => {
  const errors = errorsOf({
    ...minimal,
    acces: {},
    access: { kubeconfig: { ssm: "/a", contxt: "x" } },
    antrea: { clusterset: "x" },
    options: { colour: "red" },
  });

  assert.deepEqual(
    errors.map((e) => [e.path, e.remedy]),
    [
      ["access.kubeconfig.contxt", "Did you mean context?"],
      ["antrea.clusterset", "Did you mean clusterSet?"],
      ["options.colour", "Known here: failureThreshold, networkProfile."],
      ["acces", "Did you mean access?"],
    ],
  );
});

test("missing fields are all named at once", () => {
  assert.deepEqual(
    errorsOf({}).map((e) => [e.path, e.problem]),
    [
      ["cluster", "is missing"],
      ["protocol", "is missing"],
      ["access", "is missing"],
    ],
  );
});

const wrong: readonly [string, unknown, string, RegExp][] = [
  ["a cluster name with capitals", { ...minimal, cluster: "East" }, "cluster", /lower-case/],
  ["a cluster name of 64 characters", { ...minimal, cluster: "e".repeat(64) }, "cluster", /63/],
  ["a number as cluster", { ...minimal, cluster: 5 }, "cluster", /must be a text/],
  [
    "imports into what is no Namespace",
    { ...minimal, antrea: { imports: { namespaces: ["Shop"] } } },
    "antrea.imports.namespaces.0",
    /lower-case/,
  ],
  [
    "imports of what is neither true nor false",
    { ...minimal, antrea: { imports: { labelIdentities: "yes" } } },
    "antrea.imports.labelIdentities",
    /true or false/,
  ],
  ["another protocol", { ...minimal, protocol: "karmada" }, "protocol", /must be antrea/],
  ["no way to the cluster", { ...minimal, access: { kubeconfig: {} } }, "access.kubeconfig", /neither a file nor ssm/],
  [
    "two ways to the cluster",
    { ...minimal, access: { kubeconfig: { file: "a", ssm: "/a" } } },
    "access.kubeconfig",
    /both/,
  ],
  ["a kubeconfig that is a text", { ...minimal, access: { kubeconfig: "/a" } }, "access.kubeconfig", /mapping/],
  [
    "a parameter without a slash",
    { ...minimal, access: { kubeconfig: { ssm: "a" } } },
    "access.kubeconfig.ssm",
    /SSM parameter/,
  ],
  ["access that is a list", { ...minimal, access: [] }, "access.kubeconfig", /missing/],
  ["access that is a text", { ...minimal, access: "x" }, "access", /mapping/],
  ["a threshold of 0", { ...minimal, options: { failureThreshold: 0 } }, "options.failureThreshold", /at least 1/],
  [
    "a threshold of 1.5",
    { ...minimal, options: { failureThreshold: 1.5 } },
    "options.failureThreshold",
    /whole number/,
  ],
  ["a list", [minimal], "", /mapping/],
  ["nothing", null, "", /mapping/],
];
for (const [what, input, path, problem] of wrong) {
  test(`${what} is refused by its path`, () => {
    const [error, ...others] = errorsOf(input);

    assert.equal(others.length, 0, JSON.stringify(others));
    assert.equal(error?.path, path);
    assert.match(error.problem, problem);
    assert.ok(error.remedy.length > 0);
  });
}

test("ocm is refused as not supported by this version", () => {
  const [error] = errorsOf({ ...minimal, protocol: "ocm", ocm: { hub: "x" } });

  assert.deepEqual([error?.path, error?.problem], ["protocol", "ocm is not supported by this version of Hawser"]);
});

const token = `eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.${"a".repeat(300)}.${"b".repeat(300)}`;
const pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEcanary\n-----END RSA PRIVATE KEY-----";
const kubeconfig = "apiVersion: v1\nkind: Config\nusers:\n- name: canary\n";
for (const secret of [token, pem, pem.replaceAll("\n", " "), kubeconfig]) {
  for (const field of ["cluster", "file", "ssm", "context", "namespace", "clusterSet", "networkProfile"]) {
    test(`no secret is taken for a value of ${field}, nor repeated: ${secret.slice(0, 12)}`, () => {
      const reference =
        field === "ssm"
          ? { ssm: secret }
          : { file: "a", ...(["file", "context"].includes(field) ? { [field]: secret } : {}) };
      const errors = errorsOf({
        ...minimal,
        ...(field === "cluster" ? { cluster: secret } : {}),
        access: { kubeconfig: reference },
        antrea: ["namespace", "clusterSet"].includes(field) ? { [field]: secret } : {},
        options: field === "networkProfile" ? { networkProfile: secret } : {},
      });

      assert.ok(errors.length > 0);
      assert.ok(!JSON.stringify(errors).includes("canary") && !JSON.stringify(errors).includes(secret.slice(0, 40)));
    });
  }
}

test("no input crashes the reader, and what it accepts it accepts again", () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.constant(null), fc.constantFrom("east", "antrea", "/a"));
  const input = fc.oneof(
    fc.anything(),
    fc.record(
      {
        cluster: leaf,
        protocol: fc.constantFrom("antrea", "ocm", 1),
        access: fc.oneof(
          leaf,
          fc.record({ kubeconfig: fc.oneof(leaf, fc.record({ file: leaf, ssm: leaf }, { requiredKeys: [] })) }),
        ),
        antrea: fc.oneof(leaf, fc.record({ namespace: leaf, clusterSet: leaf }, { requiredKeys: [] })),
        options: fc.oneof(leaf, fc.dictionary(fc.constantFrom("failureThreshold", "x"), leaf)),
      },
      { requiredKeys: [] },
    ),
  );
  fc.assert(
    fc.property(input, (given) => {
      const once = parseMembershipDocument(given);
      if (once.ok) assert.deepEqual(parseMembershipDocument(once.value), once);
      else assert.ok(once.error.length > 0);
    }),
  );
});

test("the published JSON Schema is the one that the reader uses", async () => {
  const published: unknown = JSON.parse(await readFile(MEMBERSHIP_SCHEMA_FILE, "utf8"));

  assert.deepEqual(published, JSON.parse(JSON.stringify(membershipJsonSchema())));
});

test("the JSON Schema and the reader agree", async () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(await readFile(MEMBERSHIP_SCHEMA_FILE, "utf8")));
  const inputs: readonly unknown[] = [minimal, ...wrong.map(([, input]) => input)];

  for (const input of inputs) {
    // JSON Schema cannot say that a list is no mapping where every key is optional; both refuse by what is missing.
    assert.equal(validate(input), parseMembershipDocument(input).ok, JSON.stringify(input));
  }
});

const yaml = (text: string): readonly UserError[] => {
  const parsed = parseMembershipDocuments(text);
  return parsed.ok ? [] : parsed.error;
};
const document = (cluster: string): string =>
  `cluster: ${cluster}\nprotocol: antrea\naccess:\n  kubeconfig:\n    ssm: /clusters/${cluster}\n`;

test("several documents are read in their order, empty ones passed over", () => {
  const parsed = parseMembershipDocuments(`# members\n---\n${document("east")}---\n---\n${document("west")}---\n`);

  assert.deepEqual(parsed.ok && parsed.value.map((spec) => spec.cluster), ["east", "west"]);
});

test("an error names document, path and line", () => {
  const errors = yaml(
    `${document("east")}---\n${document("west")}  contxt: x\n---\ncluster: North\nprotocol: antrea\n`,
  );

  assert.deepEqual(
    errors.map((e) => [e.path, e.problem.replace(/^.*(\(line \d+\))$/, "$1")]),
    [
      ["[1].access.contxt", "(line 12)"],
      ["[2].cluster", "(line 14)"],
      ["[2].access", "(line 14)"],
    ],
  );
});

test("the one document of a file has no number", () => {
  assert.deepEqual(
    yaml("cluster: east\nprotocol: antrea\naccess: {kubeconfig: {ssm: x}}\n").map((e) => e.path),
    ["access.kubeconfig.ssm"],
  );
});

test("a cluster that stands twice in a file is refused", () => {
  assert.deepEqual(
    yaml(`${document("east")}---\n${document("east")}`).map((e) => e.path),
    ["[1].cluster"],
  );
});

const broken: readonly [string, string][] = [
  ["an open bracket", "cluster: [east\nprotocol: canary\n"],
  ["a key twice", "cluster: canary\ncluster: canary\n"],
  ["a wrong indent", "cluster: east\n   protocol: canary\n"],
  ["an alias without anchor", "cluster: *canary\nprotocol: antrea\n"],
  [
    "aliases that multiply",
    `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [${"*a,".repeat(9)}]\nc: &c [${"*b,".repeat(9)}]\nd: [${"*c,".repeat(9)}]\n`,
  ],
  ["nothing", "\n# only a comment\n"],
  ["a text", "canary\n"],
  ["a tab", "access:\n\tkubeconfig: canary\n"],
];
for (const [what, text] of broken) {
  test(`${what} is a mistake of the user, and the text is not repeated`, () => {
    const errors = yaml(text);

    assert.ok(errors.length > 0);
    assert.ok(!JSON.stringify(errors).includes("canary"), JSON.stringify(errors));
  });
}

test("no text crashes the reader of files", () => {
  const pieces = fc.array(
    fc.constantFrom(
      "cluster: ",
      "east",
      "\n",
      "---",
      "- ",
      "{",
      "}",
      "[",
      "&a ",
      "*a",
      "!x ",
      "|",
      "? ",
      ": ",
      "\t",
      '"',
      "'",
      "<<: ",
      "%YAML 1.1\n",
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map((p) => p.join("")),
      ),
      (text) => {
        const parsed = parseMembershipDocuments(text);
        assert.ok(parsed.ok || parsed.error.length > 0);
      },
    ),
    { numRuns: 500 },
  );
});
