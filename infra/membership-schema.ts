import { writeFile } from "node:fs/promises";
import { toJsonSchema } from "@valibot/to-json-schema";
import { membershipSchema } from "../lib/state/membership-document.ts";

/** Where the published JSON Schema of the membership document lies. */
export const MEMBERSHIP_SCHEMA_FILE = new URL("../lib/state/membership.schema.json", import.meta.url);

/** The JSON Schema of what a user may write. */
export function membershipJsonSchema(): Record<string, unknown> {
  const { $schema, ...schema } = toJsonSchema(membershipSchema, { typeMode: "input" });
  return { $schema, title: "Hawser membership document", ...schema };
}

if (import.meta.main) {
  await writeFile(MEMBERSHIP_SCHEMA_FILE, `${JSON.stringify(membershipJsonSchema(), undefined, 2)}\n`);
  console.log(`${MEMBERSHIP_SCHEMA_FILE.pathname} was written; npm run format gives it its form`);
}
