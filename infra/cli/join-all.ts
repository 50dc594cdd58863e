import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describeUserErrors } from "../../lib/base/user-error.ts";
import type { JoinAnswer } from "../../lib/runtime/join.ts";
import type { MembershipSpec } from "../../lib/state/membership.ts";
import { parseMembershipDocuments } from "../../lib/state/membership-documents.ts";
import { CommandError, EXIT } from "./exit-codes.ts";
import { invokeFunction } from "./invoke.ts";
import type { JoinOptions } from "./join.ts";
import { resolveTarget, type Target } from "./target.ts";

/** Joins every membership of the file, one after the other; answers the exit code. */
export async function joinAll(options: JoinOptions): Promise<number> {
  const specs = readSpecs(options.file);
  const target = resolveTarget(options);
  const answers: JoinAnswer[] = [];
  for (const spec of specs) {
    if (options.json !== true) console.error(`${spec.cluster}: joining by ${spec.protocol} in ${target.name}`);
    const answer = await joinOne(target, spec);
    answers.push(answer);
    console.log(
      options.json === true ? JSON.stringify({ cluster: spec.cluster, ...answer }) : describe(spec.cluster, answer),
    );
  }
  return answers.every((answer) => answer.ok) ? EXIT.ok : EXIT.failed;
}

function readSpecs(file: string): readonly MembershipSpec[] {
  let text: string;
  try {
    text = readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage);
  }
  const parsed = parseMembershipDocuments(text);
  if (!parsed.ok)
    throw new CommandError(
      `${file} is not what a membership file should be:\n${describeUserErrors(parsed.error)}`,
      EXIT.usage,
    );
  return parsed.value.map((spec) => placed(spec, file === "-" ? process.cwd() : dirname(resolve(file))));
}

/** A relative kubeconfig file lies beside the document that names it; the function has another folder. */
function placed(spec: MembershipSpec, folder: string): MembershipSpec {
  const { kubeconfig } = spec.access;
  return "file" in kubeconfig
    ? { ...spec, access: { kubeconfig: { ...kubeconfig, file: resolve(folder, kubeconfig.file) } } }
    : spec;
}

async function joinOne(target: Target, spec: MembershipSpec): Promise<JoinAnswer> {
  const answer = await invokeFunction(target, "bootstrap", spec);
  return answer.ok ? (answer.value as JoinAnswer) : { ok: false, errors: [answer.error], steps: [] };
}

function describe(cluster: string, answer: JoinAnswer): string {
  const steps = answer.steps.map(
    ({ step, outcome, message }) => `  ${step}: ${outcome}${message === undefined ? "" : ` (${message})`}`,
  );
  if (!answer.ok) return [`${cluster}: not joined`, ...steps, describeUserErrors(answer.errors)].join("\n");
  const head = answer.changed
    ? `${cluster}: joined, in shard ${answer.shard}`
    : `${cluster}: nothing was to do, in shard ${answer.shard}`;
  return [head, ...steps].join("\n");
}
