import type { Engine } from "../types.ts";
import { openApiDocument } from "./openapi.ts";

/** An answer to a request that is not for a resource. */
export interface PlainAnswer {
  readonly code: number;
  readonly contentType: "application/json" | "text/plain; charset=utf-8";
  readonly body: string;
}

const CHECKS = ["ping", "log", "etcd", "poststarthook/rbac/bootstrap-roles"];
const READY_CHECKS = ["ping", "log", "etcd", "informer-sync", "poststarthook/rbac/bootstrap-roles", "shutdown"];
const ENDPOINTS: ReadonlySet<string> = new Set(["healthz", "livez", "readyz"]);

/** Whether a path tells the server's health; it does by any method. */
export function isHealthPath(path: string): boolean {
  return ENDPOINTS.has(path.split("/")[1] ?? "");
}

/** Answers health, version, the list of paths and discovery; undefined for paths that are unknown. */
export function answerNonResource(path: string, query: URLSearchParams, server: ServerFacts): PlainAnswer | undefined {
  if (path.includes("//")) return undefined;
  const trimmed = path.length > 1 ? path.replace(/\/$/, "") : path;
  if (trimmed === "/version") return json(versionInfo(server.gitVersion));
  if (trimmed === "/") return json({ paths: ["/api", "/apis", "/healthz", "/livez", "/readyz", "/version"] });
  const [, endpoint = "", ...check] = path.split("/");
  if (ENDPOINTS.has(endpoint)) return health(endpoint, check, query);
  const document = server.discovery(trimmed) ?? openApiDocument(trimmed, server.discovery);
  return document === undefined ? undefined : json(document);
}

/** What the answers are made from. */
export interface ServerFacts extends Pick<Engine, "discovery"> {
  /** For example `v1.34.2`. */
  readonly gitVersion: string;
}

function health(endpoint: string, check: readonly string[], query: URLSearchParams): PlainAnswer | undefined {
  const checks = endpoint === "readyz" ? READY_CHECKS : CHECKS;
  if (check.length > 0) return checks.includes(check.join("/")) ? text("ok") : undefined;
  if (!query.has("verbose")) return text("ok");
  return text(`${checks.map((c) => `[+]${c} ok\n`).join("")}${endpoint} check passed\n`);
}

function versionInfo(gitVersion: string): object {
  const [, major = "", minor = ""] = /^v(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  return {
    major,
    minor,
    gitVersion,
    gitCommit: "0000000000000000000000000000000000000000",
    gitTreeState: "clean",
    buildDate: "2026-01-01T00:00:00Z",
    goVersion: "go1.24.0",
    compiler: "gc",
    platform: "linux/amd64",
  };
}

function json(body: object): PlainAnswer {
  return { code: 200, contentType: "application/json", body: JSON.stringify(body) };
}

function text(body: string): PlainAnswer {
  return { code: 200, contentType: "text/plain; charset=utf-8", body };
}
