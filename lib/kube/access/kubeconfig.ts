import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import { failed, ok, type Result } from "../../base/result.ts";
import type { UserError } from "../../base/user-error.ts";
import type { Connection, Credential } from "../connection.ts";
import { type Proxy, parseProxyUrl } from "../proxy.ts";
import { parseServerUrl, type ServerUrl } from "../server-url.ts";
import { type ContextEntries, type Entry, readContext } from "./kubeconfig-entries.ts";
import { certificateProblem, keyPairProblem } from "./pem.ts";
import { readToken } from "./token.ts";

/** Which part of a kubeconfig is wanted, and whether it may name files. */
export interface KubeconfigOptions {
  /** Default: the kubeconfig's current context. */
  readonly context?: string;
  /**
   * Reads a file that the kubeconfig names; undefined when it cannot be read. Absent: file references are refused, as
   * they must be where the kubeconfig comes from a store.
   */
  readonly readFile?: (path: string) => Promise<string | undefined>;
}

/**
 * The connection that a kubeconfig describes. Refused, with the field's path: plugins (`exec`, `auth-provider`), which
 * would run programs; basic authentication and impersonation; file references where there are no files; and
 * `insecure-skip-tls-verify`, because TLS is always verified. No message holds any of the content.
 */
export async function connectionFromKubeconfig(
  text: string,
  options: KubeconfigOptions = {},
): Promise<Result<Connection, UserError>> {
  const entries = readContext(text, options.context);
  if (!entries.ok) return entries;
  const { cluster, user } = entries.value;
  const refusal =
    refuse(cluster, CLUSTER_REFUSALS) ??
    refuse(user, USER_REFUSALS) ??
    wrongType(cluster, CLUSTER_TEXTS) ??
    wrongType(user, USER_TEXTS);
  if (refusal !== undefined) return failed(refusal);
  const server = readServer(cluster);
  if (!server.ok) return server;
  const proxy = readProxy(cluster);
  if (!proxy.ok) return proxy;
  const inlined = await inlineFiles(entries.value, options);
  if (!inlined.ok) return inlined;
  return await build(inlined.value, server.value, proxy.value);
}

type Refusals = Readonly<Record<string, readonly [problem: string, remedy: string]>>;

const PLUGIN = "Use a token or client-certificate-data; for EKS use access by eks";
const IMPERSONATION = ["impersonation is not supported", "Use a credential of the identity itself"] as const;
const BASIC = ["basic authentication is no longer known to Kubernetes", "Use a token or a client certificate"] as const;

const CLUSTER_REFUSALS: Refusals = {
  "insecure-skip-tls-verify": ["TLS is always verified", "Remove it and give certificate-authority-data"],
};

const USER_REFUSALS: Refusals = {
  exec: ["a credential plugin cannot be run here", PLUGIN],
  "auth-provider": ["an authentication provider cannot be run here", PLUGIN],
  username: BASIC,
  password: BASIC,
  as: IMPERSONATION,
  "as-uid": IMPERSONATION,
  "as-groups": IMPERSONATION,
  "as-user-extra": IMPERSONATION,
};

function refuse({ path, fields }: Entry, refusals: Refusals): UserError | undefined {
  for (const [field, [problem, remedy]] of Object.entries(refusals)) {
    const value = fields[field];
    if (value === undefined || value === null || value === false || value === "") continue;
    return { path: `${path}.${field}`, problem, remedy };
  }
  return undefined;
}

const CLUSTER_TEXTS = ["certificate-authority", "certificate-authority-data", "tls-server-name", "proxy-url"] as const;

const USER_TEXTS = [
  "token",
  "tokenFile",
  "client-certificate",
  "client-certificate-data",
  "client-key",
  "client-key-data",
] as const;

/** A field of another type would be passed over, and with it a proxy or a CA. */
function wrongType({ path, fields }: Entry, texts: readonly string[]): UserError | undefined {
  const wrong = texts.find((field) => !["string", "undefined"].includes(typeof (fields[field] ?? undefined)));
  if (wrong === undefined) return undefined;
  return { path: `${path}.${wrong}`, problem: "is not a text", remedy: "Write it as a text, in quotes if need be" };
}

function readServer({ path, fields }: Entry): Result<ServerUrl, UserError> {
  const server = parseServerUrl(typeof fields["server"] === "string" ? fields["server"] : "");
  return server.ok ? server : failed({ path: `${path}.server`, ...server.error });
}

function readProxy({ path, fields }: Entry): Result<Proxy | undefined, UserError> {
  const url = fields["proxy-url"];
  if (typeof url !== "string" || url === "") return ok(undefined);
  const proxy = parseProxyUrl(url);
  return proxy.ok ? proxy : failed({ path: `${path}.proxy-url`, ...proxy.error });
}

/** Fields that name a file, the field that holds the same as data, and how the data is written. */
const FILE_FIELDS = [
  ["cluster", "certificate-authority", "certificate-authority-data", "base64"],
  ["user", "client-certificate", "client-certificate-data", "base64"],
  ["user", "client-key", "client-key-data", "base64"],
  ["user", "tokenFile", "token", "utf8"],
] as const;

/** Puts the content of files in the place of their names. As in client-go, data goes before a file. */
async function inlineFiles(
  entries: ContextEntries,
  { readFile }: KubeconfigOptions,
): Promise<Result<ContextEntries, UserError>> {
  const fields = { cluster: { ...entries.cluster.fields }, user: { ...entries.user.fields } };
  for (const [part, fileField, dataField, encoding] of FILE_FIELDS) {
    const file = fields[part][fileField];
    delete fields[part][fileField];
    if (typeof file !== "string" || file === "" || isFilled(fields[part][dataField])) continue;
    const path = `${entries[part].path}.${fileField}`;
    if (readFile === undefined) {
      const remedy = `Give ${dataField} instead (kubectl config view --raw --minify --flatten does it)`;
      return failed({ path, problem: "a file cannot be read here", remedy });
    }
    const content = await readFile(file);
    if (content === undefined) {
      return failed({ path, problem: `the file ${file} cannot be read`, remedy: "Check the path and its permissions" });
    }
    fields[part][dataField] = Buffer.from(content).toString(encoding);
  }
  // client-node would read this one while it loads.
  delete fields.user["token-file"];
  return ok({
    cluster: { path: entries.cluster.path, fields: fields.cluster },
    user: { path: entries.user.path, fields: fields.user },
    namespace: entries.namespace,
  });
}

function isFilled(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** Lets client-node work out the TLS options and the credential, and checks them. */
async function build(
  { cluster, user, namespace }: ContextEntries,
  server: ServerUrl,
  proxy: Proxy | undefined,
): Promise<Result<Connection, UserError>> {
  const tls = await authenticate(cluster, user, server);
  const { ca, serverName } = tls;
  const badCa = ca === undefined ? undefined : certificateProblem(ca);
  if (badCa !== undefined) {
    const path = `${cluster.path}.certificate-authority-data`;
    return failed({ path, problem: `the CA ${badCa}`, remedy: "Give PEM certificates, base64 encoded" });
  }
  const credential = readCredential(user, tls);
  if (!credential.ok) return credential;
  return ok({
    server,
    ca,
    credential: credential.value,
    ...(serverName === undefined ? {} : { serverName }),
    ...(proxy === undefined ? {} : { proxy }),
    ...(namespace === undefined ? {} : { namespace }),
  });
}

interface Authentication {
  readonly ca: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  readonly serverName: string | undefined;
  readonly token: string | undefined;
}

async function authenticate(cluster: Entry, user: Entry, server: ServerUrl): Promise<Authentication> {
  const config = new KubeConfig();
  // The proxy is left out: it is ours to speak to.
  const { "proxy-url": _proxy, ...fields } = cluster.fields;
  config.loadFromString(
    JSON.stringify({
      clusters: [{ name: "cluster", cluster: { ...fields, server: server.href } }],
      users: [{ name: "user", user: user.fields }],
      contexts: [{ name: "context", context: { cluster: "cluster", user: "user" } }],
      "current-context": "context",
    }),
  );
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const token = config.getCurrentUser()?.token;
  return {
    ca: text(options.ca),
    certificate: text(options.cert),
    key: text(options.key),
    serverName: options.servername,
    token: typeof token === "string" ? token : undefined,
  };
}

function text(value: unknown): string | undefined {
  return Buffer.isBuffer(value) ? value.toString("utf8") : undefined;
}

/** With both, the certificate is used: an API server looks at it first. */
function readCredential({ path }: Entry, { certificate, key, token }: Authentication): Result<Credential, UserError> {
  if (certificate !== undefined || key !== undefined) {
    const problem = keyPairProblem(certificate ?? "", key ?? "");
    if (problem === undefined) return ok({ kind: "certificate", certificate: certificate ?? "", key: key ?? "" });
    const remedy = "Give client-certificate-data and client-key-data that belong together";
    return failed({ path: `${path}.client-certificate-data`, problem: `the client certificate ${problem}`, remedy });
  }
  const reading = readToken(token ?? "");
  switch (reading.kind) {
    case "token":
      return ok({ kind: "token", token: reading.token });
    case "empty":
      return failed({
        path,
        problem: "the user has no credential",
        remedy: "Give a token, or client-certificate-data and client-key-data",
      });
    case "unusable":
      return failed({
        path: `${path}.token`,
        problem: "the token holds characters that no token has",
        remedy: "Give the token alone, in one line",
      });
  }
}
