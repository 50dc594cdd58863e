import { parse } from "yaml";
import { failed, ok, type Result } from "../../../../lib/base/result.ts";
import { badRequest, requestEntityTooLarge, unsupportedMediaType } from "../status.ts";
import type { ApiStatus } from "../types.ts";
import type { AnyRequest } from "./exchange.ts";

/** Largest body that a Kubernetes API server reads, in bytes. */
const BODY_LIMIT = 3 * 1024 * 1024;

/** A body and its type. */
export interface RequestBody {
  /** Lower case, without parameters; undefined when the request does not say. */
  readonly contentType: string | undefined;
  /** undefined for an empty body. */
  readonly value: unknown;
}

/** Reads and parses a body; the failure is the Status to answer. A request that breaks off gives an empty body. */
export async function readRequestBody(request: AnyRequest): Promise<Result<RequestBody, ApiStatus>> {
  const header = request.headers["content-type"];
  const contentType = header?.split(";")[0]?.trim().toLowerCase();
  const bytes = await collect(request);
  if (bytes === undefined) return failed(requestEntityTooLarge(`limit is ${BODY_LIMIT}`));
  if (bytes.length === 0) return ok({ contentType, value: undefined });
  const format = formatOf(contentType);
  if (format === undefined) return failed(unsupportedMediaType());
  const text = bytes.toString("utf8");
  try {
    return ok({ contentType, value: format === "json" ? (JSON.parse(text) as unknown) : (parse(text) as unknown) });
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return failed(badRequest(`couldn't get version/kind; ${format} parse error: ${why}`));
  }
}

function formatOf(contentType: string | undefined): "json" | "yaml" | undefined {
  if (contentType === undefined || contentType === "" || contentType === "application/json") return "json";
  if (contentType.endsWith("+json")) return "json";
  return contentType === "application/yaml" || contentType.endsWith("+yaml") ? "yaml" : undefined;
}

/** All bytes, or undefined when there are too many: the rest is read and dropped, so that the answer reaches the client. */
function collect(request: AnyRequest): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= BODY_LIMIT) chunks.push(chunk);
      else resolve(undefined);
    });
    request.once("end", () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.once("error", () => resolve(Buffer.alloc(0)));
    request.once("close", () => resolve(Buffer.alloc(0)));
  });
}
