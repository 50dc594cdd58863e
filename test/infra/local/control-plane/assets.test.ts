import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { AssetsError, assetsCache, assetVersions, findAssets } from "../../../../infra/local/control-plane/assets.ts";

describe("the programs of a control plane", () => {
  const folder = mkdtempSync(join(tmpdir(), "hawser-assets-"));
  after(() => rmSync(folder, { recursive: true }));
  const furnish = (place: string, programs: readonly string[]): string => {
    mkdirSync(place, { recursive: true });
    for (const program of programs) {
      writeFileSync(join(place, program), "");
      chmodSync(join(place, program), 0o755);
    }
    return place;
  };
  const all = ["etcd", "kube-apiserver", "kube-controller-manager"];

  it("are those of KUBEBUILDER_ASSETS, else those that were built", () => {
    const given = furnish(join(folder, "given"), all);
    const environment = { XDG_CACHE_HOME: join(folder, "cache") };
    const built = furnish(assetsCache(environment), all);

    assert.equal(findAssets({ ...environment, KUBEBUILDER_ASSETS: given }), given);
    assert.equal(findAssets({ ...environment, KUBEBUILDER_ASSETS: "" }), built);
  });

  it("are built outside of the checkout, in a folder named by their versions", () => {
    const { kubernetes, etcd } = assetVersions();

    assert.match(kubernetes, /^v1\.\d+\.\d+$/);
    assert.match(etcd, /^v3\.\d+\.\d+$/);
    const cache = assetsCache({ XDG_CACHE_HOME: "/somewhere" });
    assert.ok(cache.startsWith(`/somewhere/hawser-assets/kubernetes-${kubernetes}-etcd-${etcd}-`), cache);
  });

  it("are missed with words that say what to do", () => {
    const part = furnish(join(folder, "part"), ["etcd", "kube-apiserver"]);

    assert.throws(
      () => findAssets({ KUBEBUILDER_ASSETS: part }),
      (error) => error instanceof AssetsError && /part, which has no kube-controller-manager/.test(error.message),
    );
    assert.throws(
      () => findAssets({ XDG_CACHE_HOME: join(folder, "empty") }),
      /has no etcd, .*npm run assets.*KUBEBUILDER_ASSETS/,
    );
  });
});
