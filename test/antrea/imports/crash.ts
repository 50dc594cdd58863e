import assert from "node:assert/strict";
import type { TestServer } from "../../state/test-table.ts";
import { serviceSpec, specOf, type WireSpec } from "./import-world.ts";
import { SyncWorld } from "./sync-world.ts";

/** Services before and after: some stay, some change, some go, some come. */
const BEFORE = ["stays", "changes-1", "changes-2", "goes-1", "goes-2"];
const AFTER: Readonly<Record<string, readonly number[]>> = {
  stays: [80],
  "changes-1": [81],
  "changes-2": [80, 443],
  "comes-1": [80],
  "comes-2": [8080],
};

/** What a run came to. */
export interface CrashReport {
  /** Each point before or after an effect, by name, in the order of an undisturbed run. */
  readonly points: readonly string[];
  /** What was not as in an undisturbed run, by point. */
  readonly faults: readonly string[];
}

/**
 * A sync is killed at points before and after its effects on table, member and leader; the next window goes on. In the end
 * the member holds what the leader says, the table says so, and nothing else is there.
 * @param wanted which points, of how many; all of them where it is not given
 */
export async function crashAtPoints(
  server: TestServer,
  wanted: (count: number) => readonly number[] = (count) => Array.from({ length: count }, (_, i) => i),
): Promise<CrashReport> {
  const world = await SyncWorld.start(server);
  const faults: string[] = [];
  try {
    const points = await runOnce(world, undefined, 0, faults);
    let round = 0;
    for (const index of wanted(points.length)) {
      round += 1;
      await runOnce(world, index, round, faults);
    }
    assert.deepEqual(world.bugs, []);
    return { points, faults };
  } finally {
    await world.end();
  }
}

/** @param killAt the number of the point; undefined: none */
async function runOnce(
  world: SyncWorld,
  killAt: number | undefined,
  round: number,
  faults: string[],
): Promise<readonly string[]> {
  const name = (base: string): string => `r${round}-${base}`;
  await change(
    world,
    BEFORE.map(name),
    Object.fromEntries(BEFORE.map((base) => [name(base), serviceSpec(name(base))])),
  );
  world.point = undefined;
  await world.open();
  await settled(world, BEFORE.map(name));
  await world.close();

  const wanted = Object.fromEntries(
    Object.entries(AFTER).map(([base, ports]) => [name(base), serviceSpec(name(base), ports)]),
  );
  await change(world, BEFORE.filter((base) => !(base in AFTER)).map(name), wanted);
  const points: string[] = [];
  let killed = false;
  world.point = async (point) => {
    if (killed) return await new Promise(() => undefined);
    points.push(point);
    if (points.length - 1 !== killAt) return undefined;
    killed = true;
    return await new Promise(() => undefined);
  };
  await world.open();
  if (killAt === undefined) {
    await settled(world, Object.keys(wanted));
    await world.close();
  } else {
    await world.until("the kill", async () => killed || (await isSettled(world, Object.keys(wanted))));
    if (killed) world.kill();
    else await world.close(() => killed);
    world.point = undefined;
    await world.open();
    await settled(world, Object.keys(wanted));
    await world.close();
  }
  world.point = undefined;
  faults.push(...differences(world, AFTER, name).map((fault) => `${points[killAt ?? -1] ?? "undisturbed"}: ${fault}`));
  // The next round begins with none of these.
  for (const base of Object.keys(AFTER)) await world.remove(name(base));
  await world.open();
  await settled(world, []);
  await world.close();
  return points;
}

async function change(
  world: SyncWorld,
  gone: readonly string[],
  wanted: Readonly<Record<string, WireSpec>>,
): Promise<void> {
  for (const name of gone) await world.remove(name);
  for (const [name, spec] of Object.entries(wanted)) await world.put(name, spec);
}

async function isSettled(world: SyncWorld, names: readonly string[]): Promise<boolean> {
  const records = await world.records();
  if (records.size !== names.length) return false;
  const imports = world.leader.engine.readAll("multicluster.crd.antrea.io", "resourceimports", undefined);
  return imports.every(({ metadata, spec }) => {
    const record = records.get(metadata.name ?? "");
    return record?.state === "Applied" && portsOf(world, metadata.name ?? "") === wantedPorts(spec);
  });
}

async function settled(world: SyncWorld, names: readonly string[]): Promise<void> {
  await world.until(`${names.join()} to be applied`, async () => await isSettled(world, names));
}

function portsOf(world: SyncWorld, name: string): string {
  const ports = specOf(world.service(name))["ports"] as { port: number }[] | undefined;
  return JSON.stringify(ports?.map(({ port }) => port));
}

function wantedPorts(spec: unknown): string {
  const { serviceImport } = spec as { serviceImport: { spec: { ports: { port: number }[] } } };
  return JSON.stringify(serviceImport.spec.ports.map(({ port }) => port));
}

/** What the member holds beside or against what the leader says. */
function differences(
  world: SyncWorld,
  wanted: Readonly<Record<string, readonly number[]>>,
  name: (base: string) => string,
): readonly string[] {
  const faults: string[] = [];
  const services = world.member.engine
    .readAll("", "services", "shop")
    .map(({ metadata }) => metadata.name ?? "")
    .toSorted();
  const expected = Object.keys(wanted)
    .map((base) => `antrea-mc-${name(base)}`)
    .toSorted();
  if (JSON.stringify(services) !== JSON.stringify(expected)) faults.push(`Services are ${services.join()}`);
  const imports = world.member.engine.readAll("multicluster.x-k8s.io", "serviceimports", "shop");
  if (imports.length !== expected.length) faults.push(`there are ${imports.length} ServiceImports`);
  for (const [base, ports] of Object.entries(wanted)) {
    if (portsOf(world, name(base)) !== JSON.stringify(ports)) faults.push(`${base} has other ports`);
  }
  return faults;
}
