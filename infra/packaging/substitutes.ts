import type { Plugin } from "esbuild";

/**
 * What bundles get in the place of packages of which they use little or nothing. Together a third of a bundle, and as much
 * of the time to load it. Each is checked by a test that imports and runs the bundles, and a name that is used but not
 * here fails the build.
 */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  // Ways of access that Hawser does not offer: auth providers that are gone from Kubernetes, interactive OpenID Connect,
  // SOCKS proxies.
  "jsonpath-plus": leftOut("jsonpath-plus", ["JSONPath"]),
  "openid-client": leftOut("openid-client", ["discovery", "refreshTokenGrant", "customFetch"]),
  socks: leftOut("socks", ["SocksClient"]),
  "socks-proxy-agent": leftOut("socks-proxy-agent", ["SocksProxyAgent"]),
  // Lambda hands credentials over in the environment, which the SDK looks at first. These are for people's own machines.
  "@aws-sdk/credential-provider-ini": leftOut("@aws-sdk/credential-provider-ini", ["fromIni"]),
  "@aws-sdk/credential-provider-process": leftOut("@aws-sdk/credential-provider-process", ["fromProcess"]),
  "@aws-sdk/credential-provider-sso": leftOut("@aws-sdk/credential-provider-sso", ["fromSSO"]),
  "@aws-sdk/credential-provider-web-identity": leftOut("@aws-sdk/credential-provider-web-identity", ["fromTokenFile"]),
  // One YAML parser is enough: client-node reads kubeconfigs with the same one as Hawser.
  "js-yaml": `export { parse as load, stringify as dump } from "yaml";`,
  // The connections without fetch, mocks, caches and cookies. Client-node's own requests are not used.
  undici: `
    import Dispatcher from "undici/lib/dispatcher/dispatcher.js";
    import Client from "undici/lib/dispatcher/client.js";
    import Pool from "undici/lib/dispatcher/pool.js";
    import errors from "undici/lib/core/errors.js";
    import api from "undici/lib/api/index.js";
    Object.assign(Dispatcher.prototype, api);
    ${leftOut("this part of undici", ["Agent", "ProxyAgent", "fetch"])}
    export { Client, Dispatcher, Pool, errors };
  `,
};

/** Puts the {@link SUBSTITUTES} in place; their own imports are resolved from the project's folder. */
export function substitutes(root: string): Plugin {
  return {
    name: "substitutes",
    setup(build) {
      const filter = new RegExp(`^(${Object.keys(SUBSTITUTES).join("|")})$`);
      build.onResolve({ filter }, ({ path }) => ({ path, namespace: "substitutes", sideEffects: path === "undici" }));
      build.onLoad({ filter: /.*/, namespace: "substitutes" }, ({ path }) => ({
        contents: SUBSTITUTES[path] ?? "",
        loader: "js",
        resolveDir: root,
      }));
    },
  };
}

/** Exports that say what is missing when they are used after all. */
function leftOut(name: string, exported: readonly string[]): string {
  const problem = JSON.stringify(`${name} is not part of this bundle`);
  return [
    `function missing() { throw new Error(${problem}); }`,
    ...exported.map((one) => `export { missing as ${one} };`),
  ].join("\n");
}
