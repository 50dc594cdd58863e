import { execFileSync } from "node:child_process";

function ps(...args: string[]): string[] {
  return execFileSync("ps", args, { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** The processes that `pid` started, and those that they started. */
export function descendants(pid: number): number[] {
  const parents = new Map(ps("-eo", "pid=,ppid=").map((line) => line.split(/\s+/).map(Number) as [number, number]));
  const under = (child: number): boolean => {
    const parent = parents.get(child);
    return parent !== undefined && (parent === pid || under(parent));
  };
  return [...parents.keys()].filter((child) => under(child));
}

/** Which of these processes run still; one that waits for its parent to look at its end does not. */
export function alive(pids: readonly number[]): number[] {
  const running = ps("-eo", "pid=,stat=").flatMap((line) => {
    const [pid, state = ""] = line.split(/\s+/);
    return state.startsWith("Z") ? [] : [Number(pid)];
  });
  return pids.filter((pid) => running.includes(pid));
}

/** The command of a process and its environment, as one text; empty when it has gone. */
export function commandAndEnvironment(pid: number): string {
  try {
    return ps("eww", "-o", "command=", "-p", String(pid)).join("\n");
  } catch {
    // ps fails where there is no such process.
    return "";
  }
}
