import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createCertificateAuthority } from "../../../infra/local/cluster/certificates.ts";
import { eventually } from "../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import type { Area } from "./contract-cluster.ts";

/** What an AdmissionReview (admission.k8s.io/v1) asks. */
export interface AdmissionRequest {
  readonly uid: string;
  readonly operation: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly subResource?: string;
  readonly dryRun?: boolean;
  readonly userInfo: { readonly username: string };
  readonly [field: string]: unknown;
}

/** How a webhook answers: its response without the UID, whatever it writes, or not at all. */
export type Answering = (
  request: AdmissionRequest,
) => object | { readonly raw: string; readonly code?: number } | "silence" | "reset";

/** A webhook that has nothing against anything. */
export const ALLOW: Answering = () => ({ allowed: true });

/** A webhook that listens on 127.0.0.1. */
export interface ListeningWebhook {
  readonly url: string;
  readonly caBundle: string;
  /** What it was asked so far. */
  readonly asked: AdmissionRequest[];
  answer: Answering;
  close(): void;
  /** Listens again, at the same address. */
  reopen(): Promise<void>;
}

/** Starts a webhook; it is closed with the test. */
export async function listen(t: TestContext, answer: Answering): Promise<ListeningWebhook> {
  const authority = await createCertificateAuthority("webhook-ca", systemClock);
  const { cert, key } = await authority.issueServer(["127.0.0.1"]);
  const asked: AdmissionRequest[] = [];
  const server: Server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const review = JSON.parse(Buffer.concat(chunks).toString("utf8")) as { request: AdmissionRequest };
      const ours = !byTheCluster(review.request);
      if (ours) asked.push(review.request);
      const given = ours ? webhook.answer(review.request) : ALLOW(review.request);
      if (given === "silence") return;
      if (given === "reset") {
        request.socket.destroy();
        return;
      }
      if ("raw" in given) {
        response.writeHead("code" in given && typeof given.code === "number" ? given.code : 200);
        response.end(given.raw);
        return;
      }
      const answered = { uid: review.request.uid, ...given };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: answered }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  t.after(close);
  const { port } = server.address() as AddressInfo;
  const webhook: ListeningWebhook = {
    url: `https://127.0.0.1:${port}/review`,
    caBundle: Buffer.from(authority.caPem).toString("base64"),
    asked,
    answer,
    close,
    reopen: () => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve)),
  };
  return webhook;
}

/** The cluster's own controllers write into each Namespace, whenever they come to it: no case is about that. */
function byTheCluster({ userInfo }: AdmissionRequest): boolean {
  return /^system:(kube-|serviceaccount:kube-system:)/.test(userInfo.username);
}

const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1";

/** What a case wants of its webhook beside the defaults. */
export interface Registration {
  readonly type?: "validating" | "mutating";
  readonly operations?: readonly string[];
  readonly resources?: readonly string[];
  readonly more?: object;
}

/**
 * Registers a webhook for ConfigMaps of the cases' Namespace, waits until the server asks it, and takes it away with the test.
 * @returns its name, as refusals show it
 */
export async function register(
  t: TestContext,
  area: Area,
  webhook: Pick<ListeningWebhook, "url" | "caBundle">,
  { type = "validating", operations = ["*"], resources = ["configmaps"], more = {} }: Registration = {},
): Promise<string> {
  const { admin, namespace, token } = area;
  const name = `contract-${token}-${Math.random().toString(36).slice(2)}`;
  const kind = type === "validating" ? "ValidatingWebhookConfiguration" : "MutatingWebhookConfiguration";
  const path = `${CONFIGURATIONS}/${kind.toLowerCase()}s`;
  const hook = `${name}.hawser.test`;
  await admin.must("POST", path, {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind,
    metadata: { name },
    webhooks: [
      {
        name: hook,
        clientConfig: { url: webhook.url, caBundle: webhook.caBundle },
        rules: [{ apiGroups: ["*"], apiVersions: ["*"], operations, resources, scope: "*" }],
        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        failurePolicy: "Fail",
        ...more,
      },
    ],
  });
  t.after(async () => {
    await admin.request("DELETE", `${path}/${name}`);
    await untilGone(area, hook);
  });
  return hook;
}

/** A configuration is in force a moment after it is written: asks by dry runs until the webhook is seen. */
export async function inForce(area: Area, webhook: Pick<ListeningWebhook, "asked">): Promise<void> {
  await eventually(systemClock, "the webhook to be asked", async () => {
    await probe(area);
    return webhook.asked.length > 0 ? true : undefined;
  });
  webhook.asked.splice(0);
}

/** Waits until writes fail because of a webhook that cannot be asked. */
export async function failing(area: Area): Promise<{ readonly code: number; readonly message: string }> {
  return await eventually(systemClock, "the webhook to fail", async () => {
    const { code, json } = await probe(area);
    return code === 201 ? undefined : { code, message: String(json["message"]) };
  });
}

async function untilGone(area: Area, hook: string): Promise<void> {
  await eventually(systemClock, "the webhook to be forgotten", async () => {
    const { text } = await probe(area);
    return text.includes(hook) ? undefined : true;
  });
}

async function probe({ admin, namespace }: Area) {
  const path = `/api/v1/namespaces/${namespace}/configmaps?dryRun=All`;
  return await admin.request("POST", path, { body: { metadata: { generateName: "probe-" } } });
}

/** A case with a webhook that is in force, named `hook` in refusals; left out where the server does not reach this machine. */
export type WebhookTest = (
  title: string,
  run: (t: TestContext, webhook: ListeningWebhook, hook: string) => Promise<void>,
  registration?: Registration,
) => void;

/** Registers cases with a webhook of their own. */
export function webhookTests(area: () => Area): WebhookTest {
  return (title, run, registration = {}) => {
    test(title, async (t) => {
      if (!area().cluster.reachesUs) return t.skip("needs a server that reaches this machine's 127.0.0.1");
      const webhook = await listen(t, ALLOW);
      const hook = await register(t, area(), webhook, registration);
      await inForce(area(), webhook);
      await run(t, webhook, hook);
      return undefined;
    });
  };
}

/** A response that changes the object by JSON patch. */
export function patching(operations: readonly object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString("base64");
  return { allowed: true, patchType: "JSONPatch", patch };
}
