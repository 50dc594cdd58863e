import { type ProxySettings, parseProxyUrl } from "../../lib/kube/proxy.ts";
import { type Doctor, wireDoctor } from "../../lib/runtime/wiring-doctor.ts";
import type { DoctorOptions } from "./doctor.ts";
import { doctorText } from "./doctor-text.ts";
import { CommandError, EXIT, type ExitCode } from "./exit-codes.ts";
import { resolveTarget, type Target } from "./target.ts";

/** Examines one membership; answers the exit code. */
export async function runDoctor(cluster: string, options: DoctorOptions): Promise<ExitCode> {
  const target = resolveTarget(options);
  const doctor = doctorOf(target, process.env);
  try {
    const report = await doctor.examine({ cluster, protocol: "antrea" }, new AbortController().signal);
    console.log(options.json === true ? JSON.stringify(report, null, 2) : doctorText(report, target.name));
    return report.healthy ? EXIT.ok : EXIT.failed;
  } finally {
    await doctor.close();
  }
}

function doctorOf(target: Target, env: NodeJS.ProcessEnv): Doctor {
  const { stage, table, functionPrefix, region, endpoints, credentials } = target;
  return wireDoctor({
    stage,
    tableName: table,
    functionPrefix,
    scheduleGroup: `hawser-${stage}`,
    region,
    ...(endpoints === undefined ? {} : { endpoints }),
    ...(credentials === undefined ? {} : { credentials }),
    proxy: proxySettings(env),
    // Only memberships of the local world name files.
    fileAccess: endpoints !== undefined,
  });
}

/** The proxy on the way from this machine, by the variables that kubectl goes by too. */
function proxySettings(env: NodeJS.ProcessEnv): ProxySettings {
  const httpsProxy = env["HTTPS_PROXY"] ?? env["https_proxy"] ?? "";
  const noProxy = env["NO_PROXY"] ?? env["no_proxy"] ?? "";
  const proxy = httpsProxy === "" ? undefined : parseProxyUrl(httpsProxy);
  if (proxy?.ok === false) {
    throw new CommandError(`HTTPS_PROXY: ${proxy.error.problem}. ${proxy.error.remedy}`, EXIT.usage);
  }
  const proxyCa = env["HAWSER_PROXY_CA"] ?? "";
  return {
    ...(httpsProxy === "" ? {} : { httpsProxy }),
    ...(noProxy === "" ? {} : { noProxy }),
    ...(proxyCa === "" ? {} : { proxyCa: proxyCa.replaceAll("\\n", "\n") }),
  };
}
