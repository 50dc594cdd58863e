import type { Clock } from "../../../../lib/base/clock.ts";
import type { CertificateAuthority } from "../certificates.ts";
import { arrayIn, objectIn, objectsIn, textIn } from "../engine/json.ts";
import type { ApiObject, Engine, WatchEvent } from "../types.ts";
import { controllerRequest, follow } from "./follow.ts";

const REQUESTS = { group: "certificates.k8s.io", version: "v1", resource: "certificatesigningrequests" };
const SIGNER = "kubernetes.io/kube-apiserver-client";
/** Usages of which a client certificate may have any, and the one that it must have. */
const USAGES = ["client auth", "digital signature", "key encipherment"];
const YEAR_S = 31_536_000;
/** A little in the past, for clients whose clocks are behind. */
const BACKDATED_S = 300;
/** Certificates that live as long as this or longer lose that time at their end. */
const LONG_S = 8 * 3600;

/** What the signer works with. */
export interface CertificateSignerOptions {
  readonly engine: Engine;
  readonly authority: CertificateAuthority;
  readonly clock: Clock;
}

/** Signs approved requests for client certificates, as kube-controller-manager's `csrsigning` does for this signer. */
export class CertificateSigner {
  readonly #options: CertificateSignerOptions;
  readonly #ended = new AbortController();
  readonly #work: Promise<void>;

  /** Starts at once. */
  constructor(options: CertificateSignerOptions) {
    this.#options = options;
    const { engine, clock } = options;
    this.#work = follow({ engine, clock, signal: this.#ended.signal }, REQUESTS, (event) => this.#look(event));
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  async #look({ type, object }: WatchEvent): Promise<void> {
    if (type !== "ADDED" && type !== "MODIFIED") return;
    const name = (object as ApiObject).metadata.name ?? "";
    // The event may be older than what is stored by now.
    const csr = this.#options.engine.readOne(REQUESTS.group, REQUESTS.resource, undefined, name);
    if (csr === undefined || !isToBeSigned(csr)) return;
    const status = objectIn(csr, "status");
    const certificate = await this.#sign(csr);
    const next =
      typeof certificate === "string"
        ? { ...status, certificate: Buffer.from(certificate).toString("base64") }
        : { ...status, conditions: [...arrayIn(status, "conditions"), failedCondition(certificate.wrong)] };
    await this.#options.engine.execute({
      ...controllerRequest("update", REQUESTS, this.#ended.signal),
      name,
      subresource: "status",
      body: {
        ...csr,
        apiVersion: `${REQUESTS.group}/${REQUESTS.version}`,
        kind: "CertificateSigningRequest",
        status: next,
      },
    });
  }

  async #sign(csr: ApiObject): Promise<string | { readonly wrong: string }> {
    const spec = objectIn(csr, "spec");
    const usages = arrayIn(spec, "usages").map(String);
    const odd = usages.find((usage) => !USAGES.includes(usage));
    if (odd !== undefined) return { wrong: `invalid usage for client certificate: ${odd}` };
    if (!usages.includes("client auth")) {
      return { wrong: "missing required usage for client certificate: client auth" };
    }
    const asked = spec["expirationSeconds"];
    const now = this.#options.clock.now().getTime();
    const wanted = typeof asked === "number" ? Math.min(asked, YEAR_S) : YEAR_S;
    const seconds = wanted < LONG_S ? wanted : wanted - BACKDATED_S;
    const validity = { notBefore: new Date(now - BACKDATED_S * 1_000), notAfter: new Date(now + seconds * 1_000) };
    try {
      const request = Buffer.from(textIn(spec, "request"), "base64").toString("utf8");
      return await this.#options.authority.signClientRequest(request, validity);
    } catch {
      return { wrong: "the request cannot be read, or is not signed by its own key" };
    }
  }
}

function isToBeSigned(csr: ApiObject): boolean {
  const status = objectIn(csr, "status");
  const types = objectsIn(status, "conditions").map((condition) => textIn(condition, "type"));
  const decided = types.includes("Approved") && !types.includes("Denied") && !types.includes("Failed");
  return decided && textIn(status, "certificate") === "" && textIn(objectIn(csr, "spec"), "signerName") === SIGNER;
}

function failedCondition(message: string): object {
  return { type: "Failed", status: "True", reason: "SignerValidationFailure", message };
}
