import { readFile } from "node:fs/promises";
import path from "node:path";
import { failed, type Result } from "../../base/result.ts";
import type { UserError } from "../../base/user-error.ts";
import type { Connection } from "../connection.ts";
import { connectionFromKubeconfig } from "./kubeconfig.ts";

/**
 * The connection that a kubeconfig file describes; for one machine, not for a function. Files that it names are read,
 * relative ones from the folder of the kubeconfig.
 */
export async function connectionFromFile(file: string, context?: string): Promise<Result<Connection, UserError>> {
  const content = await read(file);
  if (content === undefined) {
    return failed({
      path: "kubeconfig.file",
      problem: `the kubeconfig ${file} cannot be read`,
      remedy: "Check the path and its permissions",
    });
  }
  const folder = path.dirname(path.resolve(file));
  return await connectionFromKubeconfig(content, {
    ...(context === undefined ? {} : { context }),
    readFile: (named) => read(path.resolve(folder, named)),
  });
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch {
    return undefined;
  }
}
