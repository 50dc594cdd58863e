import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ApiRecord } from "../../../../infra/local/api-client/api-client.ts";
import { type MergedExports, mergeExports } from "../../../../infra/local/leader/import-rules.ts";

let age = 0;
const exported = (cluster: string, kind: string, name: string, payload: object): ApiRecord => {
  age += 1;
  return {
    metadata: {
      name: `${cluster}-shop-${name}-${kind.toLowerCase()}`,
      creationTimestamp: new Date(age * 1000).toISOString(),
    },
    spec: { clusterID: cluster, kind, namespace: "shop", name, ...payload },
  };
};
const service = (cluster: string, name: string, ...ports: readonly number[]): ApiRecord =>
  exported(cluster, "Service", name, {
    service: { serviceSpec: { ports: ports.map((port) => ({ name: "http", port, targetPort: 1, nodePort: 2 })) } },
  });
const endpoints = (cluster: string, name: string, ip: string): ApiRecord =>
  exported(cluster, "Endpoints", name, { endpoints: { subsets: [{ addresses: [{ ip }], ports: [{ port: 80 }] }] } });
const label = (cluster: string, normalizedLabel: string): ApiRecord => {
  const one = exported(cluster, "LabelIdentity", normalizedLabel, { labelIdentity: { normalizedLabel } });
  return { ...one, spec: { clusterID: cluster, kind: "LabelIdentity", labelIdentity: { normalizedLabel } } };
};
const present = (merged: MergedExports): ApiRecord[] =>
  [...merged.imports].map(([name, { spec }]) => ({ metadata: { name }, spec }));

describe("what a leader makes of exports", () => {
  it("is a ServiceImport with name, port and protocol of a Service's ports, and Endpoints with all members' subsets", () => {
    const { imports, converged } = mergeExports(
      [
        service("east", "web", 80),
        endpoints("east", "web", "10.0.0.1"),
        service("west", "web", 80),
        endpoints("west", "web", "10.1.0.1"),
      ],
      [],
    );

    assert.deepEqual(imports.get("shop-web-service")?.spec, {
      kind: "ServiceImport",
      namespace: "shop",
      name: "web",
      serviceImport: { spec: { type: "ClusterSetIP", ports: [{ name: "http", port: 80, protocol: "TCP" }] } },
    });
    const { endpoints: payload, ...rest } = imports.get("shop-web-endpoints")?.spec ?? {};
    assert.deepEqual(rest, { kind: "Endpoints", namespace: "shop", name: "web" });
    assert.deepEqual(
      (payload as { subsets: { addresses: object[] }[] }).subsets.map(({ addresses }) => addresses),
      [[{ ip: "10.0.0.1" }], [{ ip: "10.1.0.1" }]],
    );
    assert.ok([...converged.values()].every(Boolean));
  });

  it("leaves out a Service with other ports than the first one's, and its Endpoints", () => {
    const [east, west] = [service("east", "web", 80), service("west", "web", 81)];

    const { imports, converged } = mergeExports(
      [west, endpoints("west", "web", "10.1.0.1"), endpoints("east", "web", "10.0.0.1"), east],
      [],
    );

    assert.deepEqual([converged.get(east.metadata.name), converged.get(west.metadata.name)], [true, false]);
    assert.deepEqual(imports.get("shop-web-endpoints")?.sources, ["east"]);
  });

  it("keeps the ports that are there when the first export is gone, and follows a change of the only one", () => {
    const [first, second] = [service("east", "web", 80), service("west", "web", 80)];
    const before = present(mergeExports([first, second], []));

    const kept = mergeExports([service("north", "web", 81), second], before);
    const followed = mergeExports([service("east", "web", 82)], before);

    const ports = (of: MergedExports): string => JSON.stringify(of.imports.get("shop-web-service")?.spec);
    assert.match(ports(kept), /"port":80/);
    assert.match(ports(followed), /"port":82/);
  });

  it("is nothing when the last export is gone", () => {
    assert.equal(mergeExports([], present(mergeExports([service("east", "web", 80)], []))).imports.size, 0);
  });

  it("is the first one's where different Services come to the same import name", () => {
    const first = {
      ...service("east", "api", 80),
      spec: { ...(service("east", "api", 80)["spec"] as object), namespace: "prod-web" },
    };
    const second = {
      ...service("west", "web-api", 80),
      spec: { ...(service("west", "web-api", 80)["spec"] as object), namespace: "prod" },
    };

    const { imports } = mergeExports([first, second], []);

    assert.deepEqual([...imports.keys()], ["prod-web-api-service"]);
    assert.equal(imports.get("prod-web-api-service")?.spec["namespace"], "prod-web");
  });

  it("is a policy without a Namespace, and a ClusterInfo under the export's own name", () => {
    const policy = exported("east", "AntreaClusterNetworkPolicy", "deny", { clusterNetworkPolicy: { priority: 1 } });
    const info = { ...exported("east", "ClusterInfo", "east", { clusterInfo: { clusterID: "east" } }) };
    info.metadata.name = "east-clusterinfo";

    const { imports } = mergeExports([policy, info], []);

    assert.deepEqual(imports.get("deny-antreaclusternetworkpolicy")?.spec, {
      kind: "AntreaClusterNetworkPolicy",
      name: "deny",
      clusternetworkpolicy: { priority: 1 },
    });
    assert.deepEqual(imports.get("east-clusterinfo")?.spec["clusterinfo"], { clusterID: "east" });
  });

  it("gives each label one number, which it keeps, and a new label the lowest that is free", () => {
    const [a, b, c] = [label("east", "ns:&pod:a=1"), label("east", "ns:&pod:b=1"), label("west", "ns:&pod:c=1")];
    const before = mergeExports([a, b], []);

    const merged = mergeExports([b, c, label("west", "ns:&pod:b=1")], present(before));

    const ids = (of: MergedExports): unknown =>
      Object.fromEntries(
        [...of.imports.values()].map(({ spec }) => {
          const { label: text, id } = spec["labelIdentity"] as { label: string; id: number };
          return [text, id];
        }),
      );
    assert.deepEqual(ids(before), { "ns:&pod:a=1": 1, "ns:&pod:b=1": 2 });
    assert.deepEqual(ids(merged), { "ns:&pod:b=1": 2, "ns:&pod:c=1": 1 });
    assert.ok([...merged.imports.keys()].every((name) => /^[0-9a-f]{16}$/.test(name)));
  });
});
