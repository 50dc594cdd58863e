import { failed, ok, type Result } from "../base/result.ts";

/** Where an API server answers, in its one normal form. */
export interface ServerUrl {
  /** `https://host:port`, lower case, without the port when it is 443. */
  readonly origin: string;
  /** What stands in front of `/api` and `/apis`: empty, or a path without a slash at its end. */
  readonly prefix: string;
  /** `origin + prefix`: two spellings of one server have the same `href`. */
  readonly href: string;
  /** Host without brackets. */
  readonly host: string;
  readonly port: number;
}

/** Why a text is no server URL; never repeats a user name or password. */
export interface ServerUrlProblem {
  readonly problem: string;
  readonly remedy: string;
}

const SPELLING = "Write it as https://HOST:PORT, for example https://10.0.0.1:6443";

/**
 * Brings the URL of an API server into its normal form, so that a change of spelling is no change.
 * A URL without a scheme means https, as it does to client-go. Plain http, a user name or password, a query and a
 * fragment are refused.
 */
export function parseServerUrl(text: string): Result<ServerUrl, ServerUrlProblem> {
  const trimmed = text.trim();
  if (trimmed === "") return failed({ problem: "the server URL is empty", remedy: SPELLING });
  const withScheme = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
  if (!URL.canParse(withScheme)) return failed({ problem: "the server URL cannot be read", remedy: SPELLING });
  const url = new URL(withScheme);
  const refusal = refuse(url);
  if (refusal !== undefined) return failed(refusal);
  const prefix = url.pathname.replace(/\/+$/, "");
  return ok({
    origin: url.origin,
    prefix,
    href: url.origin + prefix,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 443 : Number(url.port),
  });
}

function refuse(url: URL): ServerUrlProblem | undefined {
  if (url.username !== "" || url.password !== "") {
    return {
      problem: "the server URL carries a user name or password",
      remedy: "Take it out of the URL; use a token or a client certificate",
    };
  }
  if (url.protocol === "http:") {
    return {
      problem: `the server URL is plain http (http://${url.host}), but TLS is always verified`,
      remedy: `Write https://${url.host} and give the server's CA`,
    };
  }
  if (url.protocol !== "https:") {
    return { problem: `the server URL has the scheme ${url.protocol.slice(0, -1)}`, remedy: SPELLING };
  }
  if (url.search !== "" || url.hash !== "") {
    return { problem: "the server URL has a query or a fragment", remedy: SPELLING };
  }
  return undefined;
}
