import { customResourceDefinitions } from "../crd/definition.ts";
import type { ResourceType } from "../resource-type.ts";
import { certificateSigningRequests } from "./certificate-signing-request.ts";
import { configMaps } from "./config-map.ts";
import { endpointSlices } from "./endpoint-slice.ts";
import { endpoints } from "./endpoints.ts";
import { events } from "./event.ts";
import { leases } from "./lease.ts";
import { namespaces } from "./namespace.ts";
import { rbacTypes } from "./rbac.ts";
import { secrets } from "./secret.ts";
import { services } from "./service.ts";
import { serviceAccounts } from "./service-account.ts";
import { webhookConfigurations } from "./webhook-configuration.ts";
import { nodes, pods } from "./workloads.ts";

/** Where clusters differ. */
export interface BuiltinOptions {
  readonly serviceCIDR: string;
  readonly repackEndpoints: boolean;
}

/** The resources that are served without any definition. */
export function builtinTypes(options: BuiltinOptions): readonly ResourceType[] {
  return [
    namespaces,
    configMaps,
    secrets,
    serviceAccounts,
    services(options.serviceCIDR),
    endpoints(options.repackEndpoints),
    endpointSlices,
    events,
    nodes,
    pods,
    leases,
    ...rbacTypes,
    ...webhookConfigurations,
    certificateSigningRequests,
    customResourceDefinitions,
  ];
}
