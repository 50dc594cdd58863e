import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { ApiClient } from "../../infra/local/api-client/api-client.ts";
import type { LocalWorldState } from "../../infra/local/world/state-file.ts";
import type { ImportView } from "../../lib/status/imports.ts";
import { HawserProcess, hawser } from "../support/hawser-process.ts";

const data = mkdtempSync(join(tmpdir(), "hawser-imports-"));
after(() => rmSync(data, { recursive: true, force: true }));

describe("a Service that one member of the local world exports", { timeout: 120_000 }, () => {
  it("arrives in the other, is listed by hawser imports, and leaves nothing for the doctor to say", async () => {
    const up = new HawserProcess(["up", "--json", "--data", data]);
    await up.until(
      (line) => line["event"] === "import" && line["cluster"] === "east" && line["state"] === "Applied",
      2,
    );
    await up.until((line) => line["event"] === "condition" && line["type"] === "ImportsWatched", 2);
    const world = JSON.parse(readFileSync(join(data, "local.json"), "utf8")) as LocalWorldState;
    const east = new ApiClient(readFileSync(world.kubeconfigs["east"] ?? "", "utf8"));

    const service = await east.request("GET", "/api/v1/namespaces/shop/services/antrea-mc-web");
    const endpoints = await east.request("GET", "/api/v1/namespaces/shop/endpoints/antrea-mc-web");
    const asJson = await hawser("imports", "east", "--json", "--data", data);
    const asText = await hawser("imports", "east", "--data", data);
    const nobody = await hawser("imports", "south", "--data", data);
    const doctor = await hawser("doctor", "east", "--data", data);
    await east.close();
    up.child.kill("SIGINT");
    const ended = await up.finished;

    assert.equal(service.body.metadata.annotations?.["multicluster.antrea.io/imported-service"], "true");
    assert.partialDeepStrictEqual(endpoints.body, { subsets: [{ addresses: [{ ip: "10.96.0.80" }] }] });
    const imports = asJson.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as ImportView);
    assert.deepEqual(
      imports.map(({ name, kind, target, state }) => [name, kind, target, state]),
      [
        ["shop-web-endpoints", "Endpoints", "shop/web", "Applied"],
        ["shop-web-service", "ServiceImport", "shop/web", "Applied"],
      ],
    );
    assert.deepEqual([asJson.code, asText.code], [0, 0]);
    assert.match(
      asText.stdout,
      /^IMPORT +KIND +TARGET +STATE +SINCE\nshop-web-endpoints +Endpoints +shop\/web +Applied/,
    );
    assert.equal(nobody.code, 1);
    assert.match(nobody.stderr, /south: there is no such membership/);
    assert.equal(doctor.code, 0, doctor.stdout);
    assert.equal(ended.code, 0, ended.stderr);
  });
});
