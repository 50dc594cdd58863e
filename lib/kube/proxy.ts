import { BlockList, isIP } from "node:net";
import { failed, ok, type Result } from "../base/result.ts";
import type { ServerUrl } from "./server-url.ts";

/** What the process says about proxies; read from the environment by the runtime, never here. */
export interface ProxySettings {
  /** HTTPS_PROXY. */
  readonly httpsProxy?: string;
  /** NO_PROXY: a list by commas. */
  readonly noProxy?: string;
  /** PEM certificates that a proxy spoken to by https is verified with, instead of the cluster's CA and the public ones. */
  readonly proxyCa?: string;
}

/** A proxy that tunnels by CONNECT. */
export interface Proxy {
  /** `http://host:port` or `https://host:port`, without credentials: fit for messages. */
  readonly origin: string;
  /** The value of `Proxy-Authorization`; a secret. */
  readonly authorization?: string;
}

/** Reads a proxy's URL; the problem names no credential. `host:port` means http, as it does to Go. */
export function parseProxyUrl(text: string): Result<Proxy, { readonly problem: string; readonly remedy: string }> {
  const remedy = "Write http://HOST:PORT or https://HOST:PORT";
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(text.trim()) ? text.trim() : `http://${text.trim()}`;
  if (!URL.canParse(withScheme)) return failed({ problem: "the proxy URL cannot be read", remedy });
  const url = new URL(withScheme);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return failed({ problem: `a ${url.protocol.slice(0, -1)} proxy is not supported`, remedy });
  }
  if (url.username === "" && url.password === "") return ok({ origin: url.origin });
  const pair = `${decode(url.username)}:${decode(url.password)}`;
  return ok({ origin: url.origin, authorization: `Basic ${Buffer.from(pair).toString("base64")}` });
}

/**
 * Which proxy the environment's settings ask for, by the rules of Go's `httpproxy`, which every Kubernetes client
 * follows: loopback is never proxied; `*` means all; `example.com` means the name and what is below it, `.example.com`
 * only what is below it; addresses and CIDR ranges match addresses; a port narrows an entry.
 */
export function proxyFromSettings(server: ServerUrl, settings: ProxySettings): string | undefined {
  if (settings.httpsProxy === undefined || settings.httpsProxy.trim() === "") return undefined;
  if (server.host === "localhost" || isLoopback(server.host)) return undefined;
  const entries = (settings.noProxy ?? "").split(",").map((entry) => entry.trim().toLowerCase());
  return entries.some((entry) => entry !== "" && matches(entry, server)) ? undefined : settings.httpsProxy;
}

function matches(entry: string, server: ServerUrl): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return inRange(entry, server.host);
  const { host, port } = splitPort(entry);
  if (port !== undefined && port !== server.port) return false;
  if (isIP(host) !== 0) return isIP(server.host) !== 0 && inList(host, isIP(host) === 6 ? 128 : 32, server.host);
  if (isIP(server.host) !== 0) return false;
  const name = host.replace(/^\*(?=\.)/, "");
  if (name.startsWith(".")) return server.host.endsWith(name);
  return server.host === name || server.host.endsWith(`.${name}`);
}

function splitPort(entry: string): { readonly host: string; readonly port: number | undefined } {
  if (isIP(entry) !== 0) return { host: entry, port: undefined };
  const found = /^\[?(.+?)\]?(?::(\d+))?$/.exec(entry);
  const port = found?.[2];
  return { host: found?.[1] ?? entry, port: port === undefined ? undefined : Number(port) };
}

function inRange(entry: string, host: string): boolean {
  const [net = "", bits = ""] = entry.split("/");
  const most = isIP(net) === 6 ? 128 : 32;
  if (isIP(net) === 0 || !/^\d+$/.test(bits) || Number(bits) > most) return false;
  return isIP(host) !== 0 && inList(net, Number(bits), host);
}

function inList(net: string, bits: number, host: string): boolean {
  const list = new BlockList();
  list.addSubnet(net, bits, isIP(net) === 6 ? "ipv6" : "ipv4");
  return list.check(host, isIP(host) === 6 ? "ipv6" : "ipv4");
}

function isLoopback(host: string): boolean {
  return isIP(host) !== 0 && (inList("127.0.0.0", 8, host) || inList("::1", 128, host));
}

/** A stray percent sign in a password is the password's own. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
