// Starts a control plane whose etcd never becomes ready; its test kills this process.
import { startControlPlane } from "../../../../infra/local/control-plane/control-plane.ts";
import { systemClock } from "../../../../lib/base/clock.ts";

await startControlPlane({
  assets: process.argv[2] ?? "",
  clusters: ["north"],
  clock: systemClock,
  progress: () => undefined,
  signal: new AbortController().signal,
});
