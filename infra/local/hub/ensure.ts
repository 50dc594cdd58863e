import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";

/**
 * Makes an object of a collection hold what `object` says; fields that it does not name stay, lists are replaced. One
 * request where the object exists.
 * @throws when the API server refuses
 */
export async function ensureObject(client: ApiClient, collection: string, object: ApiRecord): Promise<void> {
  const path = `${collection}/${object.metadata.name}`;
  const patched = await client.request("PATCH", path, object, "application/merge-patch+json");
  if (patched.code === 200) return;
  const { code, body } = patched.code === 404 ? await client.request("POST", collection, object) : patched;
  if (code !== 201) throw new Error(`write ${path}: ${code} ${body.message ?? ""}`);
}
