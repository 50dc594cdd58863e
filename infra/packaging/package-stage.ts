import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkReferences } from "./check-references.ts";
import { checkRules } from "./check-rules.ts";
import { checkSchema } from "./check-schema.ts";
import { runOsls } from "./osls.ts";
import type { Template } from "./template.ts";

/** The Lambda runtime that every function must have. */
const RUNTIME = "nodejs24.x";

/** A stage, packaged: what a deployment would upload. */
export interface PackagedStage {
  /** Folder with the template and a zip for each function. */
  readonly folder: string;
  readonly template: Template;
}

/** Packaging failed: what the tool said. */
export class PackagingFailed extends Error {
  override readonly name = "PackagingFailed";
}

/**
 * Packages a stage into a folder, offline and without credentials; the bundles in `dist/` must be there.
 * @throws {PackagingFailed} when the packaging tool refuses
 */
export async function packageStage(
  options: { readonly stage: string; readonly region?: string; readonly folder: string; readonly show?: boolean },
  signal?: AbortSignal,
): Promise<PackagedStage> {
  // The tool empties its folder as it pleases: it works in one of its own, so that two runs cannot meet.
  const work = await mkdtemp(join(tmpdir(), "hawser-package-"));
  try {
    const region = options.region === undefined ? [] : ["--region", options.region];
    const args = ["package", "--stage", options.stage, ...region, "--package", work];
    const run = await runOsls(args, options.show === true, signal);
    if (run.code !== 0) throw new PackagingFailed(run.output.trim());
    await rm(options.folder, { recursive: true, force: true });
    await cp(work, options.folder, { recursive: true });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const text = await readFile(join(options.folder, "cloudformation-template-update-stack.json"), "utf8");
  return { folder: options.folder, template: JSON.parse(text) as Template };
}

/** Everything that is wrong with a template, one line each; empty when it is as it must be. */
export async function checkTemplate(template: Template): Promise<readonly string[]> {
  return [...(await checkSchema(template)), ...(await checkReferences(template)), ...checkRules(template, RUNTIME)];
}
