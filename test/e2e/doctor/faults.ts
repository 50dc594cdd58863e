import {
  CreateScheduleCommand,
  DeleteScheduleCommand,
  GetScheduleCommand,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { startLoopbackServer } from "../../../infra/local/aws/loopback-server.ts";
import { createCertificateAuthority } from "../../../infra/local/cluster/certificates.ts";
import { startLambda } from "../../../infra/local/lambda/lambda.ts";
import { CLUSTER_ID_ANNOTATION, paths } from "../../../infra/local/leader/resources.ts";
import type { Cause } from "../../../lib/base/cause.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { systemIds } from "../../../lib/base/ids.ts";
import { systemRandom } from "../../../lib/base/random.ts";
import type { ImportRecord } from "../../../lib/state/imports.ts";
import { startSilentServer, startTlsServer, type TlsServer, unusedPort } from "../../support/tls-server.ts";
import {
  ANNOUNCE,
  AREA,
  all,
  CLUSTER_SET,
  type DoctorWorld,
  deleted,
  expectCode,
  NAMESPACE,
  patched,
  SECRET,
  type Undo,
  unbound,
} from "./doctor-world.ts";
import { GROUP, SCHEDULE, sayWatch } from "./embedded-aws.ts";
import { startFront } from "./front.ts";

/** A check that must fail, and what it must say. */
export interface Expected {
  /** Side and name: `leader tls`. */
  readonly check: string;
  readonly cause: Cause;
  readonly came: RegExp;
  readonly remedy: RegExp;
}

/** Something that goes wrong in the life of a membership, planted for real. Takes simulated and real clusters. */
export interface Fault {
  readonly name: string;
  /** Plants it in a healthy world; answers how it is taken away. */
  readonly plant: (world: DoctorWorld) => Promise<Undo>;
  /** Exactly these checks fail. */
  readonly fails: readonly [Expected, ...Expected[]];
  /** Exactly these are not asked. */
  readonly notAsked: readonly string[];
}

const LEADER = [
  "dns",
  "tcp",
  "tls",
  "authentication",
  "clock",
  "rbac",
  "common-area",
  "webhook",
  "identity",
  "cluster-ids",
  "announce",
];
const MEMBER = [
  "access",
  "dns",
  "tcp",
  "tls",
  "authentication",
  "clock",
  "cluster-set",
  "rbac",
  "import-rbac",
  "secret",
];

/** The checks of a side behind one of them, in the order of the chain. */
function behind(side: "leader" | "member", check: string): readonly string[] {
  const order = side === "leader" ? LEADER : MEMBER;
  const rest = order.slice(order.indexOf(check) + 1).map((name) => `${side} ${name}`);
  return side === "member" ? [...rest, ...LEADER.map((name) => `leader ${name}`)] : rest;
}

const WHOLE_LEADER = LEADER.map((name) => `leader ${name}`);

/** Lets the member's ClusterSet name another server, or anything else of its spec. */
async function clusterSet({ member }: DoctorWorld, leader: object, more: object = {}): Promise<Undo> {
  const { spec } = (await expectCode(200, member.admin, "GET", CLUSTER_SET)) as unknown as {
    spec: { leaders: object[] };
  };
  const changed = { ...spec, leaders: [{ ...spec.leaders[0], ...leader }], ...more };
  return await patched(member.admin, CLUSTER_SET, { spec: changed }, { spec });
}

/** Lets the member's Secret hold something else; `null` takes a key away. */
async function secret({ member }: DoctorWorld, change: Readonly<Record<string, string | null>>): Promise<Undo> {
  const { data } = (await expectCode(200, member.admin, "GET", SECRET)) as unknown as { data: Record<string, string> };
  const encoded = Object.entries(change).map(([key, text]) => [key, text === null ? null : base64(text)]);
  return await patched(member.admin, SECRET, { data: Object.fromEntries(encoded) }, { data });
}

/** The member is sent to a server of the test's in the leader's place. */
async function instead(world: DoctorWorld, server: Pick<TlsServer, "url" | "ca" | "close">): Promise<Undo> {
  const close = async (): Promise<void> => await server.close();
  return all(close, await clusterSet(world, { server: server.url }), await secret(world, { "ca.crt": server.ca }));
}

const ACCOUNT = `${paths.serviceAccounts(AREA)}/member-east`;

/** Binds the member's ServiceAccount to another cluster ID, or to none. */
async function bindAccount({ leader }: DoctorWorld, id: string | null): Promise<Undo> {
  const annotated = (value: string | null) => ({ metadata: { annotations: { [CLUSTER_ID_ANNOTATION]: value } } });
  return await patched(leader.admin, ACCOUNT, annotated(id), annotated("east"));
}

const IDENTITY: Expected = {
  check: "leader identity",
  cause: "DeniedByLeaderWebhook",
  came: /ClusterID "east" is not permitted for ServiceAccount "member-east"/,
  remedy:
    /kubectl -n antrea-multicluster annotate serviceaccount member-east multicluster\.antrea\.io\/cluster-id=east --overwrite/,
};

const MAKE_SECRET = /kubectl -n kube-system create secret generic leader-token --from-file=ca\.crt --from-file=token/;

/** The faults that a doctor must name. */
export const FAULTS: readonly Fault[] = [
  {
    name: "the leader's host name is unknown",
    plant: async (world) => await clusterSet(world, { server: "https://hub.invalid:6443" }),
    fails: [{ check: "leader dns", cause: "APIServerUnreachable", came: /name/, remedy: /dig hub\.invalid/ }],
    notAsked: behind("leader", "dns"),
  },
  {
    name: "nobody listens at the leader's address",
    plant: async (world) => await clusterSet(world, { server: `https://127.0.0.1:${await unusedPort()}` }),
    fails: [
      {
        check: "leader tcp",
        cause: "APIServerUnreachable",
        came: /connection refused/,
        remedy: /nc -vz 127\.0\.0\.1 \d+/,
      },
    ],
    notAsked: behind("leader", "tcp"),
  },
  {
    name: "the leader's address is filtered: a connection is taken and nothing comes",
    plant: async (world) => {
      const server = await startSilentServer();
      return all(server.close, await clusterSet(world, { server: server.url }));
    },
    fails: [
      {
        check: "leader tls",
        cause: "APIServerUnreachable",
        came: /no connection within \d+ ms/,
        remedy: /may be private or filtered.*firewall/,
      },
    ],
    notAsked: behind("leader", "tls"),
  },
  {
    name: "the leader's certificate is signed by another CA",
    plant: async (world) =>
      await secret(world, { "ca.crt": (await createCertificateAuthority("other", systemClock)).caPem }),
    fails: [
      {
        check: "leader tls",
        cause: "TLSVerificationFailed",
        came: /unknown authority|self-signed/,
        remedy: /Give the CA certificate.*openssl s_client/,
      },
    ],
    notAsked: behind("leader", "tls"),
  },
  {
    name: "the leader's certificate has expired",
    plant: async (world) => {
      const authority = await createCertificateAuthority("expired", systemClock);
      const certificate = await authority.issueServer(["127.0.0.1"], { notAfter: new Date(Date.now() - 60_000) });
      return await instead(world, await startTlsServer(() => undefined, { authority, certificate }));
    },
    fails: [
      {
        check: "leader tls",
        cause: "TLSVerificationFailed",
        came: /expired/,
        remedy: /Renew the server's certificate/,
      },
    ],
    notAsked: behind("leader", "tls"),
  },
  {
    name: "the leader refuses the token",
    plant: async (world) => await secret(world, { token: "eyJhbGciOiJub25lIn0.e30.c2lnbmF0dXJl" }),
    fails: [
      {
        check: "leader authentication",
        cause: "CredentialRefused",
        came: /401/,
        remedy: /antctl mc create membertoken/,
      },
    ],
    notAsked: behind("leader", "authentication"),
  },
  {
    name: "the member has no rights in the common area",
    plant: async ({ leader }) =>
      await unbound(
        leader.admin,
        `/apis/rbac.authorization.k8s.io/v1/namespaces/${AREA}/rolebindings/member-east`,
        { namespace: AREA, name: "member-east" },
        { verb: "get", group: "multicluster.crd.antrea.io", resource: "memberclusterannounces", namespace: AREA },
      ),
    fails: [
      {
        check: "leader rbac",
        cause: "PermissionDenied",
        came: /we may not get, create, patch, delete memberclusterannounces in Namespace antrea-multicluster/,
        remedy: /kubectl apply -n antrea-multicluster -f infra\/kubernetes\/leader\/member\.yaml/,
      },
      { check: "leader common-area", cause: "PermissionDenied", came: /403/, remedy: /member\.yaml/ },
    ],
    notAsked: behind("leader", "common-area"),
  },
  {
    name: "the ServiceAccount has no cluster ID",
    plant: async (world) => await bindAccount(world, null),
    fails: [IDENTITY],
    notAsked: ["leader cluster-ids"],
  },
  {
    name: "the ServiceAccount is bound to another cluster ID",
    plant: async (world) => await bindAccount(world, "west"),
    fails: [IDENTITY],
    notAsked: ["leader cluster-ids"],
  },
  {
    name: "the announce is of another leader",
    plant: async (world) => await clusterSet(world, { clusterID: "south" }),
    fails: [
      {
        check: "leader announce",
        cause: "ConfigurationInvalid",
        came: /leaderClusterID is "north" instead of "south"/,
        remedy: /kubectl -n antrea-multicluster delete memberclusterannounce member-announce-from-east/,
      },
    ],
    notAsked: [],
  },
  {
    name: "the leader has another cluster ID than the member says, and no announce yet",
    plant: async (world) => all(await withoutAnnounce(world), await clusterSet(world, { clusterID: "south" })),
    fails: [
      {
        check: "leader cluster-ids",
        cause: "DeniedByLeaderWebhook",
        came: /Leader cluster ID in the MemberClusterAnnounce does not match/,
        remedy: /kubectl -n antrea-multicluster get clusterset -o yaml/,
      },
      { check: "leader announce", cause: "TimedOut", came: /no beat has come/, remedy: /hawser events east/ },
    ],
    notAsked: [],
  },
  {
    name: "another member's ID begins with this one's and a dash",
    plant: async (world) => {
      const { admin } = world.leader;
      await expectCode(201, admin, "POST", paths.serviceAccounts(AREA), {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "member-east-1", annotations: { [CLUSTER_ID_ANNOTATION]: "east-1" } },
      });
      const remove = async (): Promise<void> =>
        void (await expectCode(200, admin, "DELETE", `${paths.serviceAccounts(AREA)}/member-east-1`));
      return all(await withoutAnnounce(world), remove);
    },
    fails: [
      {
        check: "leader cluster-ids",
        cause: "DeniedByLeaderWebhook",
        came: /ClusterID "east" conflicts with an existing member's ClusterID/,
        remedy: /begins with the other and a dash.*kubectl -n antrea-multicluster get serviceaccounts/,
      },
      { check: "leader announce", cause: "TimedOut", came: /no beat has come/, remedy: /hawser events east/ },
    ],
    notAsked: [],
  },
  {
    name: "the leader's webhook is down",
    plant: async ({ controllers }) => {
      await controllers.stopWebhook();
      return async () => await controllers.startWebhook();
    },
    fails: [
      {
        check: "leader webhook",
        cause: "LeaderWebhookUnavailable",
        came: /failed calling webhook/,
        remedy: /rollout restart deployment antrea-mc-controller/,
      },
    ],
    notAsked: ["leader identity", "leader cluster-ids"],
  },
  {
    name: "the Secret is missing",
    plant: async ({ member }) => await deleted(member.admin, SECRET),
    fails: [
      {
        check: "member secret",
        cause: "ConfigurationInvalid",
        came: /Secret leader-token not found/,
        remedy: MAKE_SECRET,
      },
    ],
    notAsked: WHOLE_LEADER,
  },
  {
    name: "the Secret has no ca.crt",
    plant: async (world) => await secret(world, { "ca.crt": null }),
    fails: [
      {
        check: "member secret",
        cause: "ConfigurationInvalid",
        came: /ca\.crt data not found in Secret leader-token/,
        remedy: MAKE_SECRET,
      },
    ],
    notAsked: WHOLE_LEADER,
  },
  {
    name: "the CA is not PEM",
    plant: async (world) => await secret(world, { "ca.crt": "MIIB no certificate" }),
    fails: [
      {
        check: "member secret",
        cause: "ConfigurationInvalid",
        came: /ca\.crt of Secret leader-token is not PEM/,
        remedy: MAKE_SECRET,
      },
    ],
    notAsked: WHOLE_LEADER,
  },
  {
    name: "the Secret has no token",
    plant: async (world) => await secret(world, { token: null }),
    fails: [
      {
        check: "member secret",
        cause: "ConfigurationInvalid",
        came: /token not found in Secret leader-token/,
        remedy: MAKE_SECRET,
      },
    ],
    notAsked: WHOLE_LEADER,
  },
  {
    name: "the member has no ClusterSet",
    plant: async ({ member }) => await deleted(member.admin, CLUSTER_SET),
    fails: [
      {
        check: "member cluster-set",
        cause: "ClusterSetMissing",
        came: /No ClusterSet in Namespace kube-system/,
        remedy: /antctl mc join/,
      },
    ],
    notAsked: ["member secret", ...WHOLE_LEADER],
  },
  {
    name: "the member's cluster ID is none",
    plant: async (world) => await clusterSet(world, {}, { clusterID: "East_1" }),
    fails: [
      {
        check: "member cluster-set",
        cause: "ConfigurationInvalid",
        came: /clusterID is not a DNS-1123 label/,
        remedy: /kubectl -n kube-system edit clusterset/,
      },
    ],
    notAsked: ["member secret", ...WHOLE_LEADER],
  },
  {
    name: "the leader's clock is nine minutes behind",
    plant: async (world) => {
      const date = () => new Date(Date.now() - 540_000).toUTCString();
      return await instead(world, await startFront(world.leader, () => ({ date: date() })));
    },
    fails: [
      { check: "leader clock", cause: "ClockOutOfSync", came: /5(39|40|41) s behind/, remedy: /chronyc tracking/ },
    ],
    notAsked: [],
  },
  {
    name: "a proxy answers in the leader's place with a page of its own",
    plant: async (world) =>
      await instead(
        world,
        await startTlsServer((_request, reply) =>
          reply.send(403, "<html><body>Blocked</body></html>", { "content-type": "text/html" }),
        ),
      ),
    fails: [
      {
        check: "leader authentication",
        cause: "ServerError",
        came: /403.*Blocked/,
        remedy: /what answers there is no API server/,
      },
    ],
    notAsked: behind("leader", "authentication"),
  },
  {
    name: "the leader limits requests",
    plant: async (world) =>
      await instead(
        world,
        await startTlsServer((_request, reply) => {
          const status = { kind: "Status", apiVersion: "v1", status: "Failure", reason: "TooManyRequests", code: 429 };
          reply.send(
            429,
            { ...status, message: "Too many requests, please try again later." },
            { "retry-after": "20" },
          );
        }),
      ),
    fails: [{ check: "leader authentication", cause: "Throttled", came: /429/, remedy: /api_priority_and_fairness/ }],
    notAsked: behind("leader", "authentication"),
  },
  {
    name: "the shard has no schedule",
    plant: async ({ aws: { scheduler } }) => {
      const named = { Name: SCHEDULE, GroupName: GROUP };
      const { FlexibleTimeWindow, ScheduleExpression, Target } = await scheduler.send(new GetScheduleCommand(named));
      await scheduler.send(new DeleteScheduleCommand(named));
      return async () =>
        void (await scheduler.send(
          new CreateScheduleCommand({ ...named, FlexibleTimeWindow, ScheduleExpression, Target }),
        ));
    },
    fails: [
      {
        check: "aws schedule",
        cause: "ConfigurationInvalid",
        came: /there is no schedule hawser-local-announce-default-1/,
        remedy: /hawser join -f/,
      },
    ],
    notAsked: [],
  },
  {
    name: "the schedule is disabled",
    plant: async ({ aws: { scheduler } }) => {
      const named = { Name: SCHEDULE, GroupName: GROUP };
      const { FlexibleTimeWindow, ScheduleExpression, Target } = await scheduler.send(new GetScheduleCommand(named));
      const set = async (State: "ENABLED" | "DISABLED"): Promise<void> =>
        void (await scheduler.send(
          new UpdateScheduleCommand({ ...named, FlexibleTimeWindow, ScheduleExpression, Target, State }),
        ));
      await set("DISABLED");
      return async () => await set("ENABLED");
    },
    fails: [{ check: "aws schedule", cause: "ConfigurationInvalid", came: /is disabled/, remedy: /--state ENABLED/ }],
    notAsked: [],
  },
  {
    name: "the function is not deployed",
    plant: async ({ aws: { endpoints } }) => {
      const { lambda } = endpoints;
      const other = await startLambda({
        clock: systemClock,
        random: systemRandom,
        ids: systemIds(systemClock, systemRandom),
      });
      endpoints.lambda = other.url;
      return async () => {
        endpoints.lambda = lambda;
        await other.stop();
      };
    },
    fails: [
      { check: "aws function", cause: "ConfigurationInvalid", came: /Function not found/, remedy: /npm run deploy/ },
      {
        check: "aws watch-function",
        cause: "ConfigurationInvalid",
        came: /Function not found/,
        remedy: /npm run deploy/,
      },
    ],
    notAsked: [],
  },
  {
    name: "the membership is paused",
    plant: async ({ aws: { state } }) => {
      const key = { cluster: "east", protocol: "antrea" } as const;
      const { signal } = new AbortController();
      await state.updateMembership(key, { paused: true }, {}, signal);
      return async () => void (await state.updateMembership(key, { paused: false }, {}, signal));
    },
    fails: [
      { check: "aws membership", cause: "ConfigurationInvalid", came: /it is paused/, remedy: /hawser resume east/ },
    ],
    notAsked: ["leader announce"],
  },
  {
    name: "the baton is stale",
    plant: async ({ aws }) => {
      await aws.expireBaton(Date.now() - 90_000);
      return async () => await aws.expireBaton(Date.now() + 3_600_000);
    },
    fails: [
      {
        check: "aws baton",
        cause: "TimedOut",
        came: /stale: window w-1 stopped renewing it.* 9[01] s ago/,
        remedy: /aws logs tail/,
      },
    ],
    notAsked: ["aws beats"],
  },
  {
    name: "the table may not be read",
    plant: async ({ aws: { endpoints } }) => {
      const { dynamodb } = endpoints;
      const type = "com.amazon.coral.service#AccessDeniedException";
      const body = JSON.stringify({ __type: type, message: "is not authorized to perform: dynamodb:GetItem" });
      const headers = { "content-type": "application/x-amz-json-1.0" };
      const server = await startLoopbackServer(() => Promise.resolve({ status: 400, headers, body }));
      endpoints.dynamodb = server.url;
      return async () => {
        endpoints.dynamodb = dynamodb;
        await server.stop();
      };
    },
    fails: [
      {
        check: "aws table",
        cause: "PermissionDenied",
        came: /AccessDeniedException/,
        remedy: /Use AWS credentials.*aws dynamodb describe-table/,
      },
    ],
    notAsked: [
      "aws membership",
      "aws schedule",
      "aws baton",
      "aws beats",
      "aws watch-schedule",
      "aws watch",
      "aws imports",
      ...MEMBER.map((name) => `member ${name}`),
      ...WHOLE_LEADER,
    ],
  },
  {
    name: "the table cannot be reached",
    plant: async ({ aws: { endpoints } }) => {
      const { dynamodb } = endpoints;
      endpoints.dynamodb = `http://127.0.0.1:${await unusedPort()}`;
      return () => Promise.resolve(void (endpoints.dynamodb = dynamodb));
    },
    fails: [{ check: "aws table", cause: "ServerError", came: /ECONNREFUSED/, remedy: /aws dynamodb describe-table/ }],
    notAsked: [
      "aws membership",
      "aws schedule",
      "aws baton",
      "aws beats",
      "aws watch-schedule",
      "aws watch",
      "aws imports",
      ...MEMBER.map((name) => `member ${name}`),
      ...WHOLE_LEADER,
    ],
  },
  {
    name: "the kubeconfig of the member is no kubeconfig",
    plant: async ({ aws, memberKubeconfig }) => {
      await aws.putParameter("/clusters/east", "no kubeconfig");
      return async () => await aws.putParameter("/clusters/east", memberKubeconfig);
    },
    fails: [
      { check: "member access", cause: "ConfigurationInvalid", came: /access\.kubeconfig\.ssm/, remedy: /kubeconfig/ },
    ],
    notAsked: behind("member", "access"),
  },
  {
    name: "the member does not answer",
    plant: async ({ aws, member, memberKubeconfig }) => {
      const server = await startSilentServer();
      await aws.putParameter("/clusters/east", memberKubeconfig.replaceAll(member.url, server.url));
      return all(server.close, async () => await aws.putParameter("/clusters/east", memberKubeconfig));
    },
    fails: [
      {
        check: "member tls",
        cause: "APIServerUnreachable",
        came: /no connection within/,
        remedy: /private or filtered/,
      },
    ],
    notAsked: behind("member", "tls"),
  },
  {
    name: "Hawser has no rights in the member",
    plant: async ({ member }) =>
      await unbound(
        member.admin,
        `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/rolebindings/hawser-antrea-member`,
        { namespace: "kube-system", name: "hawser" },
        { verb: "list", group: "multicluster.crd.antrea.io", resource: "clustersets", namespace: NAMESPACE },
      ),
    fails: [
      {
        check: "member cluster-set",
        cause: "PermissionDenied",
        came: /403/,
        remedy: /kubectl apply -f infra\/kubernetes\/member\/hawser\.yaml/,
      },
      {
        check: "member rbac",
        cause: "PermissionDenied",
        came: /we may not get, list clustersets in Namespace kube-system; not patch clustersets\/status/,
        remedy: /hawser\.yaml/,
      },
      {
        check: "member import-rbac",
        cause: "PermissionDenied",
        came: /clusterinfoimports in Namespace kube-system$/,
        remedy: /hawser\.yaml/,
      },
    ],
    notAsked: ["member secret", ...WHOLE_LEADER],
  },
  {
    name: "the role for imports was left out in the member",
    plant: async ({ member }) =>
      await unbound(
        member.admin,
        "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/hawser-antrea-imports",
        { namespace: "kube-system", name: "hawser" },
        { verb: "list", group: "", resource: "services" },
      ),
    fails: [
      {
        check: "member import-rbac",
        cause: "PermissionDenied",
        came: /we may not get, list, create, update, delete services; not/,
        remedy: /hawser-antrea-imports/,
      },
    ],
    notAsked: [],
  },
  {
    name: "a user has a Service of the name that an import needs",
    plant: async ({ aws: { state } }) => await conflicted(state),
    fails: [
      {
        check: "aws imports",
        cause: "ConfigurationInvalid",
        came: /1 of 1 are not applied: shop-web-service is Conflicted: Service shop\/antrea-mc-web is there already/,
        remedy: /hawser imports east/,
      },
    ],
    notAsked: [],
  },
  {
    name: "the leader's imports may not be read",
    plant: async ({ aws: { state } }) => {
      await sayWatch(state, "False", "WatchFailed", "list resourceimports antrea-multicluster: 403 Forbidden");
      return async () => await sayWatch(state, "True", "Watching", "");
    },
    fails: [
      {
        check: "aws watch",
        cause: "PermissionDenied",
        came: /WatchFailed since .*: list resourceimports antrea-multicluster: 403/,
        remedy: /hawser events east/,
      },
    ],
    notAsked: [],
  },
  {
    name: "an in-cluster agent announces the member too",
    plant: async ({ aws: { state } }) => await exception(state, { kind: "InClusterAgentRunning", count: 2, since: 0 }),
    fails: [
      {
        check: "aws beats",
        cause: "ConfigurationInvalid",
        came: /an in-cluster agent announces the member too/,
        remedy: /scale deployment antrea-mc-controller --replicas=0/,
      },
    ],
    notAsked: [],
  },
  {
    name: "the function's network does not let beats through",
    plant: async ({ aws: { state } }) => await exception(state, { kind: "APIServerUnreachable", count: 4, since: 0 }),
    fails: [
      { check: "aws beats", cause: "APIServerUnreachable", came: /4 in a row/, remedy: /the function's network/ },
    ],
    notAsked: [],
  },
];

/** What the window says of the cluster with its renewals. */
async function exception(
  { batons }: DoctorWorld["aws"]["state"],
  east: { readonly kind: string; readonly count: number; readonly since: number },
): Promise<Undo> {
  const say = async (exceptions: Readonly<Record<string, typeof east>>): Promise<void> => {
    const change = { exceptions, writeId: crypto.randomUUID() };
    await batons.change({ role: "announce", scope: "default-1" }, { fence: 7 }, change, new AbortController().signal);
  };
  await say({ east });
  return async () => await say({});
}

/** The leader has let the member's announce go. */
async function withoutAnnounce({ leader, beat }: DoctorWorld): Promise<Undo> {
  await expectCode(200, leader.admin, "DELETE", ANNOUNCE);
  while ((await leader.admin.request("GET", ANNOUNCE)).code !== 404);
  return beat;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

async function conflicted(state: DoctorWorld["aws"]["state"]): Promise<Undo> {
  const by = { assignment: 1, fence: 1 };
  const record: ImportRecord = {
    name: "shop-web-service",
    kind: "ServiceImport",
    target: { namespace: "shop", name: "web" },
    objects: [],
    state: "Conflicted",
    since: 0,
    attempts: 0,
    error: "Service shop/antrea-mc-web is there already",
    ...by,
  };
  const { signal } = new AbortController();
  await state.writeImport("east", record, undefined, signal);
  return async () => void (await state.deleteImport("east", record.name, by, undefined, signal));
}
