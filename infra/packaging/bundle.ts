import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve, sep } from "node:path";
import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";
import { clientNodePure } from "./client-node-pure.ts";
import { substitutes } from "./substitutes.ts";

/** One bundle as it was written. */
export interface Bundle {
  /** Name of the function: the file's name in `functions/`. */
  readonly name: string;
  readonly bytes: number;
  readonly gzipBytes: number;
}

/** What a build did. */
export interface BuildResult {
  /** True when nothing had changed since the last build and nothing was written. */
  readonly unchanged: boolean;
  readonly bundles: readonly Bundle[];
}

/** The identifier must be long and unlike any other: a short one has met a minified name and broken the cold start. */
const BANNER = `import { createRequire as hawserBundleCreateRequire } from "node:module"; const require = hawserBundleCreateRequire(import.meta.url);`;

interface Stamp {
  readonly inputs: string;
  readonly bundles: readonly Bundle[];
}

/**
 * Bundles every `functions/*.ts` of the project into `dist/NAME.mjs`, with its source map beside it and the metafile in
 * `dist/meta.json`. Does nothing when no input has changed. Files are put in place whole: a reader, or a second build
 * that runs at the same time, never sees half a bundle.
 * @param root the project's folder
 * @param force builds even if nothing has changed
 */
export async function bundleFunctions(root: string, force = false): Promise<BuildResult> {
  const dist = join(root, "dist");
  const functions = await functionFiles(root);
  const stamp = force ? undefined : await readStamp(dist);
  if (stamp !== undefined && stamp.inputs === (await hashInputs(root, functions, await readInputs(dist)))) {
    return { unchanged: true, bundles: stamp.bundles };
  }
  const { metafile, files } = await runBuild(root, functions);
  await mkdir(dist, { recursive: true });
  const bundles: Bundle[] = [];
  for (const file of files) {
    await writeWhole(join(dist, basename(file.path)), file.contents);
    if (file.path.endsWith(".mjs")) bundles.push(measure(file.path, file.contents));
  }
  await removeOld(dist, new Set(files.map((file) => basename(file.path))));
  await writeWhole(join(dist, "meta.json"), JSON.stringify(metafile));
  const inputs = await hashInputs(root, functions, Object.keys(metafile.inputs));
  await writeWhole(join(dist, "build.json"), JSON.stringify({ inputs, bundles } satisfies Stamp));
  return { unchanged: false, bundles };
}

interface Built {
  readonly metafile: Metafile;
  readonly files: readonly { readonly path: string; readonly contents: Uint8Array }[];
}

async function runBuild(root: string, functions: readonly string[]): Promise<Built> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: [...functions],
    outdir: "dist",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node24",
    mainFields: ["module", "main"],
    banner: { js: BANNER },
    plugins: [substitutes(root), clientNodePure],
    sourcemap: "linked",
    legalComments: "none",
    metafile: true,
    write: false,
    logLevel: "warning",
  });
  return { metafile: result.metafile, files: result.outputFiles };
}

async function functionFiles(root: string): Promise<readonly string[]> {
  const names = await readdir(join(root, "functions"));
  return names
    .filter((name) => name.endsWith(".ts"))
    .toSorted()
    .map((name) => `functions/${name}`);
}

/** Packages are covered by the lock file, the rest by content; the build's own files count too. */
async function hashInputs(root: string, functions: readonly string[], inputs: readonly string[]): Promise<string> {
  const own = inputs.filter((path) => !path.startsWith("node_modules/") && !path.includes(":"));
  const packaging = (await readdir(import.meta.dirname)).map((name) => relative(root, join(import.meta.dirname, name)));
  const paths = new Set([...own, ...functions, ...packaging, "package-lock.json"]);
  const hash = createHash("sha256");
  for (const path of [...paths].toSorted()) {
    const content = await readFile(resolve(root, path)).catch(() => "absent");
    hash
      .update(`${path.split(sep).join("/")}\0`)
      .update(content)
      .update("\0");
  }
  return hash.digest("hex");
}

async function readStamp(dist: string): Promise<Stamp | undefined> {
  const present = new Set(await readdir(dist).catch(() => []));
  if (!present.has("build.json") || !present.has("meta.json")) return undefined;
  const stamp = JSON.parse(await readFile(join(dist, "build.json"), "utf8")) as Stamp;
  return stamp.bundles.every((bundle) => present.has(`${bundle.name}.mjs`)) ? stamp : undefined;
}

async function readInputs(dist: string): Promise<readonly string[]> {
  const metafile = JSON.parse(await readFile(join(dist, "meta.json"), "utf8")) as Metafile;
  return Object.keys(metafile.inputs);
}

function measure(path: string, contents: Uint8Array): Bundle {
  return { name: basename(path, ".mjs"), bytes: contents.length, gzipBytes: gzipSync(contents).length };
}

async function writeWhole(path: string, contents: Uint8Array | string): Promise<void> {
  const part = `${path}.${process.pid}.part`;
  await writeFile(part, contents);
  await rename(part, path);
}

/** A function that is gone must not be packaged or run from an old bundle. */
async function removeOld(dist: string, written: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(dist)) {
    if (/\.mjs(\.map)?$/.test(name) && !written.has(name)) await rm(join(dist, name), { force: true });
  }
}
