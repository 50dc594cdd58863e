/**
 * Whether a client takes the only form that this server has: whole objects as JSON. A form that is made of them (`as=Table`,
 * `as=PartialObjectMetadata`) is not to be had, so that a client must name another one beside it, as kubectl and client-go do.
 */
export function acceptsJson(accept: string | undefined): boolean {
  if (accept === undefined || accept === "" || accept === "application/json") return true;
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    return (type === "application/json" || type === "*/*") && !parameters.some((p) => p.startsWith("as="));
  });
}

/** Whether a person reads the answer: asked for by `pretty`, or by the programs that people use for that. */
export function wantsIndented(query: URLSearchParams, userAgent: string | undefined): boolean {
  const asked = query.get("pretty");
  if (asked !== null) return asked !== "false" && asked !== "0";
  return userAgent !== undefined && /^(curl|Wget|Mozilla\/5\.0)/.test(userAgent);
}

/** A body as it is sent: JSON with a line's end, as real servers write it. */
export function jsonText(body: unknown, indented: boolean): string {
  return `${indented ? JSON.stringify(body, null, 2) : JSON.stringify(body)}\n`;
}
