import type { Clock } from "../../../lib/base/clock.ts";
import type { Random } from "../../../lib/base/random.ts";
import { Authenticator, type StaticToken } from "./access/authentication.ts";
import { identityReviews } from "./access/authentication-reviews.ts";
import { tokenRequests } from "./access/authentication-token-request.ts";
import { ServiceAccountTokens } from "./access/authentication-tokens.ts";
import { Authorizer } from "./access/authorization.ts";
import { defaultRbac } from "./access/authorization-defaults.ts";
import { accessReviews } from "./access/authorization-reviews.ts";
import { WebhookAdmission } from "./admission/admission.ts";
import type { ServiceResolver } from "./admission/admission-call.ts";
import { certificateAdmission } from "./admission/certificate-admission.ts";
import { rbacAdmission } from "./admission/rbac-admission.ts";
import { type CertificateAuthority, createCertificateAuthority, type Validity } from "./certificates.ts";
import { CertificateSigner } from "./controllers/certificate-signer.ts";
import { RoleAggregation } from "./controllers/role-aggregation.ts";
import { ServiceAccountController } from "./controllers/service-accounts.ts";
import { createEngine } from "./engine/engine.ts";
import { Faults } from "./faults/faults.ts";
import { RequestHandler } from "./front/request-handler.ts";
import { RequestLog } from "./front/request-log.ts";
import { ApiServer } from "./front/server.ts";
import type { OpenWatch } from "./front/watch-stream.ts";
import { kubeconfigYaml } from "./kubeconfig.ts";
import { readManifests } from "./manifests.ts";
import type { Engine } from "./types.ts";

/** What a cluster is started with. */
export interface SimulatedClusterOptions {
  /** Name in kubeconfigs and of the certificate authority. */
  readonly name: string;
  /** The cluster's own clock: its stamps, `Date` headers and validity of tokens and certificates. */
  readonly clock: Clock;
  readonly random: Random;
  /** 0, the default, means any free port. */
  readonly port?: number;
  /** YAML texts that are applied before the server is up. */
  readonly manifests?: readonly string[];
  /** Bearer tokens that are known from the start. */
  readonly tokens?: readonly StaticToken[];
  /** Whether requests without a credential are let through as `system:anonymous`; true by default. */
  readonly anonymous?: boolean;
  /** Names in the server's certificate beside 127.0.0.1, ::1 and localhost. */
  readonly serverNames?: readonly string[];
  /** What `/version` says. */
  readonly gitVersion?: string;
  /** Where the Services of webhooks really listen, as `https://host:port`; a webhook behind any other Service is unreachable. */
  readonly resolveService?: ServiceResolver;
  /** How many requests the log keeps. */
  readonly logCapacity?: number;
  readonly maxStreams?: number;
  readonly onBug?: (error: unknown) => void;
}

/** For whom a kubeconfig is made. */
export type KubeconfigFor =
  | { readonly serviceAccount: { readonly namespace: string; readonly name: string } }
  /** A client certificate; `validity` for one that is over. */
  | { readonly user: string; readonly groups?: readonly string[]; readonly validity?: Validity }
  | { readonly user: string; readonly token: string };

/** A running cluster: a Kubernetes API server with nothing behind it but what the tests put there. */
export interface SimulatedCluster {
  readonly name: string;
  /** `https://127.0.0.1:port`. */
  readonly url: string;
  readonly caPem: string;
  readonly authority: CertificateAuthority;
  readonly engine: Engine;
  readonly authenticator: Authenticator;
  readonly requestLog: RequestLog;
  readonly faults: Faults;
  /** The HTTPS side: connection counters, `replaceCertificate`, `stopAccepting`, `destroyConnections`. */
  readonly server: ApiServer;
  /** The watches that are open now; each can be made to fail. */
  watches(): readonly OpenWatch[];
  /** A kubeconfig that may do everything (client certificate of group `system:masters`). */
  adminKubeconfig(): string;
  kubeconfigFor(whom: KubeconfigFor): Promise<string>;
  /** A token of a ServiceAccount that is good for a year or until the account is deleted. @throws when there is no such account */
  tokenFor(namespace: string, serviceAccount: string): string;
  /** Writes objects as the server itself, without admission; ServiceAccount token Secrets are filled when it returns. */
  applyManifests(yamlText: string): Promise<void>;
  /** The API server goes down, its data stays. */
  stopServing(): Promise<void>;
  /** It comes up again on the same port. */
  resumeServing(): Promise<void>;
  stop(): Promise<void>;
}

const YEAR_S = 31_536_000;
const LOOPBACK_NAMES = ["127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default.svc"];

/** Starts a cluster on 127.0.0.1. */
export async function startSimulatedCluster(options: SimulatedClusterOptions): Promise<SimulatedCluster> {
  const parts = await assemble(options);
  const { engine, authority, tokens, server, controller, admission } = parts;
  const admin = await authority.issueClient({ user: "kubernetes-admin", groups: ["system:masters"] });
  const base = { cluster: options.name, caPem: authority.caPem };
  const url = (): string => `https://127.0.0.1:${server.port}`;

  const tokenFor = (namespace: string, name: string): string => {
    const account = engine.readOne("", "serviceaccounts", namespace, name);
    if (account === undefined) throw new Error(`cluster ${options.name} has no ServiceAccount ${namespace}/${name}`);
    return tokens.issueBound(account, { expiresInS: YEAR_S }).token;
  };
  const applyManifests = async (yamlText: string): Promise<void> => {
    for (const object of readManifests(yamlText)) await engine.apply(object);
    await parts.aggregation.settle();
    await controller.settle();
  };

  for (const object of [...defaultObjects(), ...defaultRbac()]) await engine.apply(object);
  await controller.settle();
  for (const text of options.manifests ?? []) await applyManifests(text);
  await server.listen(options.port);

  return {
    name: options.name,
    url: url(),
    caPem: authority.caPem,
    authority,
    engine,
    authenticator: parts.authenticator,
    requestLog: parts.requestLog,
    faults: parts.faults,
    server,
    watches: () => parts.handler.watches,
    adminKubeconfig: () =>
      kubeconfigYaml({ ...base, server: url(), user: "kubernetes-admin", credential: { certificate: admin } }),
    kubeconfigFor: async (whom) => {
      if ("serviceAccount" in whom) {
        const { namespace, name } = whom.serviceAccount;
        const credential = { token: tokenFor(namespace, name) };
        return kubeconfigYaml({ ...base, server: url(), user: name, credential, namespace });
      }
      const credential =
        "token" in whom ? { token: whom.token } : { certificate: await authority.issueClient(whom, whom.validity) };
      return kubeconfigYaml({ ...base, server: url(), user: whom.user, credential });
    },
    tokenFor,
    applyManifests,
    stopServing: () => server.close(),
    resumeServing: () => server.listen(),
    stop: async () => {
      await server.close();
      parts.handler.close();
      await controller.stop();
      await parts.signer.stop();
      await parts.aggregation.stop();
      await admission.close();
      engine.close();
    },
  };
}

async function assemble(options: SimulatedClusterOptions) {
  const { clock, random } = options;
  const authority = await createCertificateAuthority(`${options.name}-ca`, clock);
  const { caPem } = authority;
  const tls = await authority.issueServer([...LOOPBACK_NAMES, ...(options.serverNames ?? [])]);
  // The engine asks admission and shows the reviews, which look into the engine: whoever comes first finds it late.
  const late: { engine?: Engine } = {};
  const engineLate = (): Engine => {
    if (late.engine === undefined) throw new Error("the engine is used before it is made");
    return late.engine;
  };
  const tokens = new ServiceAccountTokens(clock, engineLate);
  const authenticator = new Authenticator({
    clock,
    caPem,
    serviceAccounts: tokens,
    ...(options.tokens === undefined ? {} : { tokens: options.tokens }),
    ...(options.anonymous === undefined ? {} : { anonymous: options.anonymous }),
  });
  const authorizer = new Authorizer(engineLate);
  const admission = new WebhookAdmission(clock, engineLate, (service) => options.resolveService?.(service));
  const reviews = [...accessReviews(authorizer), ...identityReviews(authenticator)];
  const virtual = [...reviews, tokenRequests(tokens, engineLate)];
  const builtIn = certificateAdmission(authorizer, rbacAdmission(authorizer, engineLate, admission.admit));
  const gitVersion = options.gitVersion ?? "v1.34.2";
  const engine = createEngine({ clock, random, admission: builtIn, virtual });
  late.engine = engine;
  const requestLog = new RequestLog(options.logCapacity);
  const faults = new Faults(random);
  const facts = { gitVersion, discovery: (path: string) => engine.discovery(path) };
  const handler = new RequestHandler({ clock, engine, authenticator, authorizer, faults, requestLog, facts, virtual });
  const server = new ApiServer({
    clock,
    handler,
    faults,
    requestLog,
    tls,
    caPem,
    ...(options.maxStreams === undefined ? {} : { maxStreams: options.maxStreams }),
    ...(options.onBug === undefined ? {} : { onBug: options.onBug }),
  });
  const controller = new ServiceAccountController({ engine, tokens, caPem, clock });
  const signer = new CertificateSigner({ engine, authority, clock });
  const aggregation = new RoleAggregation({ engine, clock });
  return {
    aggregation,
    signer,
    authority,
    tokens,
    authenticator,
    admission,
    engine,
    requestLog,
    faults,
    handler,
    server,
    controller,
  };
}

/** What is there in a cluster before anybody writes. */
function defaultObjects(): readonly object[] {
  const namespace = (name: string): object => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  return ["default", "kube-node-lease", "kube-public", "kube-system"].map(namespace);
}
