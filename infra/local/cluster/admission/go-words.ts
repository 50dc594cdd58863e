import type { JsonObject } from "../engine/json.ts";

/*
 * What goes wrong between an API server and a webhook, in the words of Go's and Kubernetes' HTTP clients, as they stand in
 * the API server's answers.
 */

const BY_CODE: Readonly<Record<number, string>> = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

/** An answer that is no success. */
export function refusedInGoWords(code: number, text: string): string {
  const body = text.trim();
  if (code === 403 && body !== "") return body;
  const known = BY_CODE[code];
  if (known !== undefined) return known;
  if (code >= 500) return `an error on the server (${JSON.stringify(body)}) has prevented the request from succeeding`;
  return code < 400
    ? `the server responded with the status code ${code} but did not return more information`
    : "the server rejected our request for an unknown reason";
}

/** A body that is no JSON object; `parsed` is undefined where it is no JSON at all. */
export function undecodableInGoWords(code: number, text: string, parsed: unknown): string {
  if (text === "") return `0-length response with status code: ${code} and content type: application/json`;
  const head = "couldn't get version/kind; json parse error: ";
  // What is no JSON is read as YAML, in which most of it is one string.
  if (parsed === undefined && /^\s*[{[]/.test(text)) return `${head}unexpected end of JSON input`;
  const found = Array.isArray(parsed) ? "array" : parsed === undefined ? "string" : typeof parsed;
  const struct =
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
  return `${head}json: cannot unmarshal ${found} into Go value of type ${struct}`;
}

/** An object of another kind than AdmissionReview. */
export function otherKindInGoWords(object: JsonObject): string | undefined {
  const { apiVersion, kind } = object;
  if (typeof apiVersion !== "string" || typeof kind !== "string") return undefined;
  if (apiVersion === "admission.k8s.io/v1" && kind === "AdmissionReview") return undefined;
  const version = apiVersion.split("/").at(-1) ?? "";
  return `converting (${version}.${kind}) to (v1.AdmissionReview): unknown conversion`;
}

/** A network or TLS failure. */
export function faultInGoWords(error: unknown, target: URL): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  const address = `${target.hostname}:${target.port === "" ? "443" : target.port}`;
  const tls = "tls: failed to verify certificate: x509: ";
  switch (code) {
    case "ECONNREFUSED":
      return `dial tcp ${address}: connect: connection refused`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `dial tcp: lookup ${target.hostname}: no such host`;
    case "ECONNRESET":
      return `read tcp ${address}: read: connection reset by peer`;
    case "UND_ERR_SOCKET":
      return "EOF";
    case "CERT_HAS_EXPIRED":
    case "CERT_NOT_YET_VALID":
      return `${tls}certificate has expired or is not yet valid`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return tls + otherName(error);
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "CERT_SIGNATURE_FAILURE":
      return `${tls}certificate signed by unknown authority`;
    default:
      return message ?? String(error);
  }
}

/** A certificate for other names than the one that was wanted. */
function otherName(error: unknown): string {
  const { host = "", cert } = error as { readonly host?: string; readonly cert?: { readonly subjectaltname?: string } };
  const names = (cert?.subjectaltname ?? "").split(", ").flatMap((entry) => {
    const [type, name] = entry.split(":");
    return type === "DNS" && name !== undefined ? [name] : [];
  });
  return names.length === 0
    ? `certificate is not valid for any names, but wanted to match ${host}`
    : `certificate is valid for ${names.join(", ")}, not ${host}`;
}
