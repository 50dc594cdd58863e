import type { ApiRecord } from "../../../infra/local/api-client/api-client.ts";
import { eventually } from "../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import type { Area } from "./contract-cluster.ts";

export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";

/** An EndpointSlice, as far as the cases look at it. */
export interface Slice extends ApiRecord {
  readonly addressType: string;
  readonly endpoints:
    | readonly {
        readonly addresses: readonly string[];
        readonly conditions: object;
        readonly [field: string]: unknown;
      }[]
    | null;
  readonly ports: readonly Readonly<Record<string, unknown>>[] | null;
}

/** Services of the cases' Namespace and what the cluster makes of their endpoints. */
export class EndpointsUnderTest {
  readonly #area: () => Area;

  constructor(area: () => Area) {
    this.#area = area;
  }

  get services(): string {
    return `/api/v1/namespaces/${this.#area().namespace}/services`;
  }

  get endpoints(): string {
    return `/api/v1/namespaces/${this.#area().namespace}/endpoints`;
  }

  get slices(): string {
    return `/apis/discovery.k8s.io/v1/namespaces/${this.#area().namespace}/endpointslices`;
  }

  /** Makes a Service on port 80. */
  async service(name: string, spec: object = {}, labels: object = {}): Promise<ApiRecord> {
    const body = { metadata: { name, labels }, spec: { ports: [{ port: 80 }], ...spec } };
    return await this.#area().admin.must("POST", this.services, body);
  }

  /** Makes Endpoints. */
  async make(name: string, subsets: readonly object[], metadata: object = {}): Promise<ApiRecord> {
    return await this.#area().admin.must("POST", this.endpoints, { metadata: { name, ...metadata }, subsets });
  }

  /** Replaces the subsets of Endpoints. */
  async change(name: string, subsets: readonly object[]): Promise<void> {
    await this.#area().admin.must("PATCH", `${this.endpoints}/${name}`, { subsets }, "application/merge-patch+json");
  }

  async slicesOf(service: string): Promise<readonly Slice[]> {
    const selector = encodeURIComponent(`${SERVICE_NAME}=${service}`);
    return ((await this.#area().admin.must("GET", `${this.slices}?labelSelector=${selector}`)).items ?? []) as Slice[];
  }

  /** The slices of a Service, as soon as they are as they should be. */
  async untilSlices(service: string, wanted: (found: readonly Slice[]) => boolean): Promise<readonly Slice[]> {
    return await eventually(systemClock, `the EndpointSlices of ${service}`, async () => {
      const found = await this.slicesOf(service);
      return wanted(found) ? found : undefined;
    });
  }

  /** Waits until the slices hold these addresses and no others; answers the slices. */
  async untilAddresses(service: string, ...addresses: readonly string[]): Promise<readonly Slice[]> {
    return await this.untilSlices(service, (found) => addressesOf(found).join() === addresses.toSorted().join());
  }

  /** The Endpoints, as soon as they are there and as wanted. */
  async untilEndpoints(name: string, wanted: (found: ApiRecord) => boolean = () => true): Promise<ApiRecord> {
    return await eventually(systemClock, `the Endpoints ${name}`, async () => {
      const { code, json } = await this.#area().admin.request("GET", `${this.endpoints}/${name}`);
      return code === 200 && wanted(json) ? json : undefined;
    });
  }
}

/** A subset with ready addresses on port 80. */
export function subsetOf(...addresses: readonly string[]): { readonly addresses: object[]; readonly ports: object[] } {
  return { addresses: addresses.map((ip) => ({ ip })), ports: [{ port: 80 }] };
}

function addressesOf(found: readonly Slice[]): readonly string[] {
  return found.flatMap(({ endpoints }) => (endpoints ?? []).flatMap(({ addresses }) => addresses)).toSorted();
}
