import { decode } from "../engine/decode.ts";
import type { ResourceType } from "../engine/resource-type.ts";
import { reply } from "../status.ts";
import type { ApiObject, ApiReply, ResourceRequest, VirtualResource } from "../types.ts";

/** Answers a question that was read; what it returns is sent with 201 unless it is a refusal. */
export type Answer = (question: ApiObject, request: ResourceRequest) => object | { readonly refused: ApiReply };

/**
 * A resource that is asked, not stored: its body is read like that of any built-in type.
 * @param where the path that it is asked at, where that is a subresource of another type
 */
export function question(
  type: ResourceType,
  answer: Answer,
  where?: Pick<VirtualResource, "group" | "resource" | "subresource" | "namespaced">,
): VirtualResource {
  const [version] = type.versions;
  if (version === undefined) throw new Error(`${type.kind} has no version`);
  const create = (request: ResourceRequest): Promise<ApiReply> => {
    const decoded = decode(request.body, type, version);
    if ("status" in decoded) return Promise.resolve(reply(decoded.status));
    const answered = answer(decoded.object, request);
    return Promise.resolve("refused" in answered ? answered.refused : { code: 201, body: { ...answered } });
  };
  const { group, kind, resource, namespaced } = type;
  const own = { group, version: version.name };
  return { ...own, kind, resource, namespaced, create, ...(where === undefined ? {} : { ...where, kindGroup: own }) };
}
