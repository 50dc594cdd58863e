// Started by a test that kills it: a Lambda service with one frozen and one busy environment.

import { join } from "node:path";
import { startLambda } from "../../../../infra/local/lambda/lambda.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { systemIds } from "../../../../lib/base/ids.ts";
import { systemRandom } from "../../../../lib/base/random.ts";

const lambda = await startLambda({
  clock: systemClock,
  random: systemRandom,
  ids: systemIds(systemClock, systemRandom),
});
const common = { taskRoot: join(import.meta.dirname, "package"), timeoutSeconds: 60, memoryMb: 64 };
lambda.register({ ...common, name: "frozen", handler: "functions.echo" });
lambda.register({ ...common, name: "busy", handler: "functions.forever" });
await lambda.invoke("frozen", {});
void lambda.invoke("busy", {});
const watch = setInterval(() => {
  const rows = lambda.environments();
  if (rows.some((r) => r.state === "busy") && rows.some((r) => r.state === "frozen")) {
    clearInterval(watch);
    process.stdout.write(`${JSON.stringify(rows.map((r) => r.pid))}\n`);
  }
}, 5);
setInterval(() => {}, 60_000);
