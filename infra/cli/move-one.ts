import { describeUserErrors } from "../../lib/base/user-error.ts";
import type { MoveAnswer } from "../../lib/runtime/move.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { invokeFunction } from "./invoke.ts";
import type { MoveOptions } from "./move.ts";
import { resolveTarget } from "./target.ts";

/** Moves one cluster; answers the exit code. */
export async function moveOne(cluster: string, options: MoveOptions): Promise<ExitCode> {
  const target = resolveTarget(options);
  const shard = options.to === undefined ? {} : { shard: options.to };
  const invoked = await invokeFunction(target, "bootstrap", { move: { cluster, ...shard } });
  const answer: MoveAnswer = invoked.ok ? (invoked.value as MoveAnswer) : { ok: false, errors: [invoked.error] };
  if (options.json === true) console.log(JSON.stringify({ cluster, ...answer }));
  else if (!answer.ok) console.log(`${cluster}: not moved\n${describeUserErrors(answer.errors)}`);
  else if (answer.from === answer.to) console.log(`${cluster}: is in shard ${answer.to} already`);
  else console.log(`${cluster}: moved from shard ${answer.from} to ${answer.to}`);
  return answer.ok ? EXIT.ok : EXIT.failed;
}
