import type { Plugin } from "esbuild";

/**
 * Packages that `@kubernetes/client-node` imports for ways of access that Hawser does not offer: auth providers that
 * were removed from Kubernetes (gcp, azure), interactive OpenID Connect, and SOCKS proxies.
 */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  "jsonpath-plus": ["JSONPath"],
  "openid-client": ["discovery", "refreshTokenGrant", "allowInsecureRequests", "customFetch", "Configuration"],
  socks: ["SocksClient"],
  "socks-proxy-agent": ["SocksProxyAgent"],
};

/** Replaces {@link LEFT_OUT} by stubs of a few bytes that say what is missing when they are used after all. */
export const leftOut: Plugin = {
  name: "left-out",
  setup(build) {
    const filter = new RegExp(`^(${Object.keys(LEFT_OUT).join("|")})$`);
    build.onResolve({ filter }, (args) => ({ path: args.path, namespace: "left-out", sideEffects: false }));
    build.onLoad({ filter: /.*/, namespace: "left-out" }, (args) => ({ contents: stub(args.path), loader: "js" }));
  },
};

function stub(name: string): string {
  const problem = JSON.stringify(`${name} is not part of this bundle: this way of access is not supported`);
  const names = LEFT_OUT[name] ?? [];
  return [
    `function missing() { throw new Error(${problem}); }`,
    ...names.map((exported) => `export { missing as ${exported} };`),
  ].join("\n");
}
