import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { parseDocument } from "yaml";
import type { UserError } from "../../../lib/base/user-error.ts";
import { ManifestError } from "./manifests.ts";

const name = v.pipe(v.string(), v.regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "is not a DNS-1123 label"));
const filled = v.pipe(v.string(), v.minLength(1, "is empty"));

const WorldConfigSchema = v.strictObject({
  leader: v.strictObject({
    kubeconfig: filled,
    context: v.optional(filled),
    /** The common area. */
    namespace: v.optional(filled, "antrea-multicluster"),
    /** True: Hawser's simulated Antrea leader works on that API server, which has none of its own; as an administrator. */
    simulatedController: v.optional(v.boolean(), false),
  }),
  members: v.pipe(
    v.array(
      v.strictObject({
        cluster: name,
        kubeconfig: filled,
        context: v.optional(filled),
        namespace: v.optional(filled, "kube-system"),
        clusterSet: v.optional(filled),
      }),
    ),
    v.minLength(1, "has no member"),
  ),
});

/** Real clusters for the local world, named by their kubeconfigs. */
export type WorldConfig = v.InferOutput<typeof WorldConfigSchema>;

/**
 * Reads the file of `--config`. Paths in it are relative to it.
 * @throws ManifestError with the field's path for each mistake
 */
export function readWorldConfig(file: string): WorldConfig {
  const refuse = (errors: readonly UserError[]): never => {
    throw new ManifestError(errors);
  };
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    return refuse([
      { path: file, problem: `cannot be read: ${(error as NodeJS.ErrnoException).code}`, remedy: "Name a file" },
    ]);
  }
  const document = parseDocument(text);
  const [broken] = document.errors;
  if (broken !== undefined)
    return refuse([{ path: file, problem: `is not YAML: ${broken.message}`, remedy: "Mend the file" }]);
  const parsed = v.safeParse(WorldConfigSchema, document.toJS());
  if (!parsed.success) {
    return refuse(
      parsed.issues.map((issue) => ({
        path: `${file}: ${v.getDotPath(issue) ?? "(document)"}`,
        problem: issue.message,
        remedy: "`npm start -- --help` shows the form of the file",
      })),
    );
  }
  const near = (path: string): string => resolve(dirname(file), path);
  const { leader, members } = parsed.output;
  return {
    leader: { ...leader, kubeconfig: near(leader.kubeconfig) },
    members: members.map((member) => ({ ...member, kubeconfig: near(member.kubeconfig) })),
  };
}
