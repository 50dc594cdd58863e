import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clusterSetRef, leaderSecretRef } from "../../lib/antrea/resources.ts";
import { kubeError } from "./memory-cluster.ts";
import { COMMON_AREA, certificatePem, NAMESPACE, RoleHarness } from "./role-harness.ts";

const isBeat = ({ verb }: { readonly verb: string }): boolean => verb === "patch" || verb === "create";

describe("the role announce", () => {
  it("creates the announce, is Ready at once, and knows its leader with the next beat", async () => {
    const h = new RoleHarness();
    h.join("east");

    await h.start();

    const announce = h.announce("east");
    assert.deepEqual(
      [announce?.["clusterID"], announce?.["clusterSetID"], announce?.["leaderClusterID"]],
      ["east", "set", "north"],
    );
    assert.match(announce?.metadata.annotations?.["touch-ts"] ?? "", /^2026-01-01T00:00:00(\.\d+)?Z$/);
    assert.deepEqual(h.shown("east"), ["True", "False", "Connected"]);
    assert.equal(h.status("east").clusterStatuses?.[0]?.conditions[0]?.["status"], "True");
    assert.equal(h.status("east").conditions?.[0]?.["status"], "Unknown");

    await h.toGridPoint("east");

    assert.deepEqual(h.shown("east"), ["True", "True", "Connected"]);
    assert.equal(h.status("east").conditions?.[0]?.["status"], "True");
    assert.deepEqual(h.bugs, []);
  });

  it("sends one request per beat, each with another touch-ts, on the grid", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    // The look for another agent comes once, before the second beat.
    await h.toGridPoint("east");
    const before = h.leader().requests.length;
    const seen = new Set<string | undefined>();

    for (let i = 0; i < 30; i += 1) {
      await h.toGridPoint("east");
      seen.add(h.announce("east")?.metadata.annotations?.["touch-ts"]);
    }

    const requests = h.leader().requests.slice(before);
    assert.equal(requests.length, 30);
    assert.ok(requests.every(({ verb }) => verb === "patch"));
    assert.equal(seen.size, 30);
  });

  it("writes nothing to table or member in a quiet hour", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start();
    await h.toGridPoint("east");
    const writes = h.store.writes;
    const asked = h.member("east").requests.length;

    await h.clock.advance(3_600_000);

    assert.equal(h.store.writes, writes);
    const since = h.member("east").requests.slice(asked);
    assert.ok(since.every(({ verb }) => verb === "get" || verb === "list"));
    const looks = since.filter(({ verb }) => verb === "list").length;
    assert.ok(looks >= 60 && looks <= 120, `${looks} looks an hour`);
    assert.equal(h.member("east").open, 0);
    assert.deepEqual(hold.rounds.at(-1)?.exceptions, {});
    const age = h.clock.now().getTime() - (hold.rounds.at(-1)?.roundAt ?? 0);
    assert.ok(age <= 2_000, `the last round is ${age} ms old`);
  });

  it("notes the first connection once", async () => {
    const h = new RoleHarness();
    h.join("east");
    const revision = h.store.revision;

    await h.start();
    await h.clock.advance(60_000);

    assert.equal(h.store.memberships.get("east")?.connectedOnce, true);
    assert.equal(h.store.revision, revision + 1);
  });

  it("is Disconnected after three failed beats, everywhere, and recovers with the first success", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start();
    await h.toGridPoint("east");
    h.leader().fault = () => kubeError("network", { message: "connection refused" });

    await h.clock.advance(20_000);
    assert.deepEqual(h.shown("east"), ["True", "True", "Connected"]);
    assert.equal(hold.rounds.at(-1)?.exceptions["east"]?.kind, "APIServerUnreachable");
    await h.clock.advance(10_000);

    assert.deepEqual(h.shown("east"), ["False", "True", "Disconnected"]);
    const ready = h.status("east").clusterStatuses?.[0]?.conditions[0];
    assert.deepEqual([ready?.["reason"], ready?.["message"]], ["Disconnected", "connection refused"]);
    assert.equal(h.status("east").conditions?.[0]?.["status"], "False");
    assert.equal(h.status("east").readyClusters, 0);
    assert.equal(h.store.condition("east", "Ready")?.cause, "APIServerUnreachable");

    h.leader().fault = () => undefined;
    await h.toGridPoint("east");

    assert.deepEqual(h.shown("east"), ["True", "True", "Connected"]);
    assert.equal(h.status("east").conditions?.[0]?.["status"], "True");
    assert.deepEqual(
      h.store.events.map(({ kind }) => kind),
      ["Connected", "Disconnected", "Connected"],
    );
  });

  it("writes at most once a minute while a member stays unhealthy with changing words", async () => {
    const h = new RoleHarness();
    h.join("east");
    let count = 0;
    h.leader().fault = () => kubeError("unavailable", { message: `try ${(count += 1)}` });
    await h.start();
    await h.clock.advance(60_000);
    const writes = h.store.writes;

    await h.clock.advance(600_000);

    assert.ok(h.store.writes - writes <= 10, `${h.store.writes - writes} writes in ten minutes`);
    assert.ok(h.store.writes > writes);
  });

  it("keeps beating when only its webhook refuses, and knows by it that the announce exists", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    h.leader().fault = () => kubeError("webhookDenied", { message: "ClusterID is not permitted" });

    await h.clock.advance(40_000);

    assert.deepEqual(h.shown("east"), ["False", "True", "Disconnected"]);
    assert.equal(h.store.condition("east", "Ready")?.cause, "DeniedByLeaderWebhook");
    assert.ok(h.requests("east").length >= 5);
  });

  it("leaves a leader alone that asks for it, and tries once 27 s after the last success, off the grid", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.join("west");
    await h.start();
    await h.toGridPoint("east");
    await h.toGridPoint("east");
    const from = h.leader().requests.length;
    h.leader().fault = ({ name }) =>
      name.endsWith("east") ? kubeError("tooManyRequests", { retryAfterMs: 86_400_000 }) : undefined;

    await h.toGridPoint("east");
    assert.equal(h.requests("east", from).length, 1);
    await h.clock.advance(16_900);
    assert.equal(h.requests("east", from).length, 1);
    assert.deepEqual(h.beats.at(-1)?.outcome === "withheld" || h.beats.at(-2)?.outcome === "withheld", true);
    h.leader().fault = () => undefined;
    await h.clock.advance(200);
    assert.equal(h.requests("east", from).length, 2);

    assert.deepEqual([h.shown("east")[0], h.store.condition("east", "Ready")?.failures], ["True", 0]);
    await h.toGridPoint("east");
    assert.equal(h.requests("east", from).length, 3, "the grid goes on");
    assert.ok(h.requests("west", from).length >= 3, "nobody else waits");
    assert.deepEqual(h.bugs, []);
  });

  it("counts no failure while the leader that asks for time still counts the member as connected", async () => {
    const h = new RoleHarness();
    h.join("east", { options: { failureThreshold: 1, networkProfile: "default" } });
    const hold = await h.start();
    await h.toGridPoint("east");
    h.leader().fault = () => kubeError("tooManyRequests", { retryAfterMs: 20_000 });

    await h.clock.advance(25_000);
    assert.equal(h.shown("east")[0], "True");
    assert.deepEqual(hold.rounds.at(-1)?.exceptions, {});
    assert.equal(h.beats.filter(({ outcome }) => outcome === "throttled").length, 1);
    assert.equal(h.beats.filter(({ outcome }) => outcome === "failed").length, 0);

    await h.clock.advance(40_000);
    assert.equal(h.shown("east")[0], "False");
    assert.equal(h.store.condition("east", "Ready")?.cause, "Throttled");
  });

  it("lets no late write of a predecessor that was paused stand, also where it has nothing to write itself", async () => {
    const h = new RoleHarness();
    h.join("east");
    const first = await h.start(7);
    await h.toGridPoint("east");
    await h.stop(first);
    const ready = h.store.condition("east", "Ready");
    assert.ok(ready);

    await h.start(8, { clean: false });
    await h.toGridPoint("east");
    const late = { ...ready, status: "False", observedAt: ready.observedAt + 1 } as const;
    const area = { cluster: "east", protocol: "antrea", area: "announce" } as const;
    const written = await h.store.writeConditions(area, { Ready: late }, {}, new AbortController().signal);

    assert.equal(written.ok && written.value.kind, "outdated");
    assert.equal(h.shown("east")[0], "True");
  });

  it("writes nothing for a predecessor that said that it stopped", async () => {
    const h = new RoleHarness();
    h.join("east");
    const first = await h.start(7);
    await h.toGridPoint("east");
    await h.stop(first);
    const writes = h.store.writes;

    await h.start(8);
    await h.clock.advance(60_000);

    assert.equal(h.store.writes, writes);
  });

  it("tells the table what changes after its clock was set back", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    await h.toGridPoint("east");
    h.clock.setWall(new Date(h.clock.now().getTime() - 600_000));
    h.leader().fault = () => kubeError("network");

    await h.clock.advance(45_000);

    assert.deepEqual(h.shown("east"), ["False", "True", "Disconnected"]);
  });

  it("makes an announce again that was deleted, and says when it carries other IDs", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    await h.toGridPoint("east");
    const ref = { type: { group: "", version: "", resource: "memberclusterannounces" }, namespace: COMMON_AREA };
    h.leader().remove({ ...ref, name: "member-announce-from-east" });

    await h.toGridPoint("east");
    assert.notEqual(h.announce("east"), undefined);
    const announce = h.announce("east");
    h.leader().put({ ...ref, name: "member-announce-from-east" }, { ...announce, clusterSetID: "other" });
    await h.toGridPoint("east");

    const ready = h.store.condition("east", "Ready");
    assert.deepEqual([ready?.status, ready?.cause], ["True", "ConfigurationInvalid"]);
    assert.match(ready?.message ?? "", /clusterSetID is "other" instead of "set"/);
    assert.equal(h.status("east").clusterStatuses?.[0]?.conditions[0]?.["message"], undefined);
  });

  it("asks before it makes an announce, and makes none while it may not write", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.mayCreate = false;
    const hold = await h.start();
    await h.clock.advance(30_000);
    assert.equal(h.announce("east"), undefined);

    h.mayCreate = true;
    hold.writable = false;
    await h.clock.advance(30_000);
    assert.equal(h.announce("east"), undefined);

    hold.writable = true;
    await h.clock.advance(10_000);
    assert.notEqual(h.announce("east"), undefined);
  });
});

describe("the role announce and its members", () => {
  it("names every membership of a shard whose leader is down", async () => {
    const h = new RoleHarness();
    const names = Array.from({ length: 250 }, (_, i) => `member-${i}`);
    for (const name of names) h.join(name);
    h.leader().fault = () => kubeError("network");
    const hold = await h.start();

    await h.clock.advance(20_000);

    const { exceptions = {}, moreExceptions } = hold.rounds.at(-1) ?? {};
    assert.deepEqual(Object.keys(exceptions).toSorted(), names.toSorted());
    assert.equal(moreExceptions, 0);
  });

  it("takes up who joins without waiting for a member that hangs", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.join("west");
    h.member("west").fault = () => "hang";
    const hold = await h.start();
    await h.clock.advance(30_000);

    h.join("south");
    const before = h.clock.monotonicMs();
    const prepared = h.role.prepare(h.store.revision, hold.signal);
    await h.clock.advance(0);
    await prepared;

    assert.equal(h.clock.monotonicMs(), before);
    assert.equal(h.requests("south").length, 2, "a beat that found no announce, and its creation");
    h.store.memberships.delete("west");
    const left = h.role.prepare(h.store.revision, hold.signal);
    await h.clock.advance(0);
    await left;
    assert.equal(h.clock.monotonicMs(), before);
  });

  it("waits for a ClusterSet, beats as soon as there is one, and shows it within the minute that antctl waits", async () => {
    const h = new RoleHarness();
    h.join("east", { bare: true });
    await h.start();
    await h.clock.advance(30_000);
    assert.deepEqual(h.shown("east"), ["Unknown", "False", "Pending"]);
    assert.equal(h.store.condition("east", "Ready")?.cause, "ClusterSetMissing");

    h.secret("east");
    h.clusterSet("east");
    await h.clock.advance(11_000);

    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.status("east").clusterStatuses?.[0]?.conditions[0]?.["status"], "True");
  });

  it("asks nothing of a leader without a usable Secret, and connects within a minute once it is mended", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.join("west");
    h.secret("east", { token: "token-1" });
    await h.start();
    await h.clock.advance(30_000);

    assert.equal(h.requests("east").length, 0);
    assert.equal(h.shown("east")[0], "False");
    assert.equal(h.shown("west")[0], "True");
    const message = h.store.condition("east", "Ready")?.message ?? "";
    assert.match(message, /ca\.crt data not found in Secret leader-token/);
    assert.match(message, /east/);
    assert.doesNotMatch(JSON.stringify([...h.store.conditions]), /token-1/);

    h.secret("east");
    await h.clock.advance(30_000);

    assert.equal(h.shown("east")[0], "True");
  });

  it("goes on with the old credential while the new one cannot be used, and says so", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start();
    h.member("east").remove(leaderSecretRef(NAMESPACE, "leader-token"));

    await h.clock.advance(60_000);

    assert.equal(h.shown("east")[0], "True");
    assert.equal(hold.rounds.at(-1)?.exceptions["east"]?.kind, "ConfigurationInvalid");
  });

  it("uses another token under the same Secret name within a minute, and keeps announce and conditions", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    await h.clock.advance(60_000);
    const before = h.store.condition("east", "Ready");
    const uid = h.announce("east")?.metadata.uid;

    h.secret("east", { "ca.crt": certificatePem, token: "token-2" });
    await h.clock.advance(60_000);

    assert.equal(h.leader().requests.at(-1)?.credential, "token-2");
    assert.deepEqual(h.store.condition("east", "Ready"), before);
    assert.equal(h.announce("east")?.metadata.uid, uid);
    assert.equal(h.leader().open, 1);
  });

  it("starts conditions over for another leader that does not answer, when the old one does not either", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    await h.clock.advance(60_000);
    h.leader("south").fault = () => kubeError("network", { message: "south is away" });
    h.leader("north").fault = () => kubeError("network", { message: "north is away" });
    await h.clock.advance(60_000);

    h.clusterSet("east", "south");
    await h.clock.advance(60_000);

    const ready = h.store.condition("east", "Ready");
    assert.equal(ready?.message, "south is away");
    assert.equal(h.shown("east")[1], "False");
    assert.equal(h.status("east").clusterStatuses?.[0]?.clusterID, "south");
  });

  it("goes on with its leader while another one that is named does not answer, and starts over with it when it does", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    await h.clock.advance(60_000);
    const before = h.store.condition("east", "Ready");
    const uid = h.announce("east")?.metadata.uid;
    h.leader("south").fault = () => kubeError("network", { message: "south is away" });

    h.clusterSet("east", "south");
    await h.clock.advance(120_000);

    assert.deepEqual(h.store.condition("east", "Ready"), before);
    assert.equal(h.announce("east")?.metadata.uid, uid, "nothing is taken back");
    assert.match(h.store.condition("east", "ConfigurationInForce")?.message ?? "", /south is away/);
    assert.equal(h.status("east").clusterStatuses?.[0]?.clusterID, "north");

    h.leader("south").fault = () => undefined;
    await h.clock.advance(60_000);
    assert.deepEqual(h.shown("east"), ["True", "True", "Connected"]);
    assert.equal(h.status("east").clusterStatuses?.[0]?.clusterID, "south");
    assert.notEqual(h.store.condition("east", "Ready")?.lastTransitionTime, before?.lastTransitionTime);
    assert.equal(h.announce("east"), undefined, "taken back");
    assert.ok(h.announce("east", "south"));
    assert.equal(h.leader("north").open, 0);
  });

  it("goes on with its leader while that refuses another identity, and takes nothing back", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    await h.clock.advance(60_000);
    const uid = h.announce("east")?.metadata.uid;
    h.leader().fault = ({ body }) =>
      JSON.stringify(body ?? {}).includes("southx")
        ? kubeError("webhookDenied", { status: 403, message: "Leader cluster ID does not match" })
        : undefined;
    const leaders = [{ clusterID: "southx", server: "https://north:6443", secret: "leader-token" }];
    h.clusterSet("east", "north", { leaders });
    await h.clock.advance(120_000);

    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.announce("east")?.metadata.uid, uid);
    assert.equal(h.store.condition("east", "ConfigurationInForce")?.cause, "DeniedByLeaderWebhook");

    h.clusterSet("east", "north");
    await h.clock.advance(60_000);
    assert.equal(h.announce("east")?.metadata.uid, uid);
    assert.equal(h.store.condition("east", "ConfigurationInForce")?.status, "True");
    assert.deepEqual(
      h.store.events.filter(({ kind }) => kind.startsWith("Announce")),
      [],
    );
  });

  it("stops beating when the ClusterSet has gone, not for one look that missed it", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    await h.clock.advance(60_000);
    const kept = h.member("east").read(clusterSetRef(NAMESPACE, "set"));
    h.member("east").remove(clusterSetRef(NAMESPACE, "set"));
    await h.clock.advance(50_000);
    const sent = h.leader().requests.length;
    await h.clock.advance(30_000);

    assert.ok(kept !== undefined);
    assert.equal(h.leader().requests.length, sent);
    assert.deepEqual(h.shown("east"), ["Unknown", "False", "Pending"]);
    assert.equal(h.leader().open, 0);

    h.clusterSet("east");
    await h.clock.advance(20_000);
    assert.deepEqual(h.shown("east").slice(0, 2), ["True", "True"]);
  });

  it("writes a status again that somebody changed, also when another write gets in between", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    await h.clock.advance(20_000);
    const ref = clusterSetRef(NAMESPACE, "set");
    const before = h.status("east");
    const foreign = { type: "Audited", status: "True", lastTransitionTime: "2020-01-01T00:00:00Z" };
    h.member("east").put(ref, {
      ...h.member("east").read(ref),
      status: { ...before, readyClusters: 7, conditions: [...(before.conditions ?? []), foreign] },
    });
    let once = true;
    h.member("east").fault = ({ verb }) => {
      if (verb === "patchStatus" && once) {
        once = false;
        h.member("east").put(ref, { ...h.member("east").read(ref), metadata: { labels: { by: "admin" } } });
      }
      return undefined;
    };

    await h.clock.advance(60_000);

    assert.equal(h.status("east").readyClusters, 1);
    assert.deepEqual(h.status("east").conditions, [...(before.conditions ?? []), foreign]);
    assert.equal(h.member("east").read(ref)?.metadata.labels?.["by"], "admin");
  });

  it("tries a refused status write again later, without harm to the beats", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.member("east").fault = ({ verb }) => (verb === "patchStatus" ? kubeError("forbidden") : undefined);
    const hold = await h.start();

    await h.clock.advance(60_000);

    const tries = h.member("east").requests.filter(({ verb }) => verb === "patchStatus").length;
    assert.ok(tries >= 3 && tries <= 9, `${tries} tries in a minute`);
    assert.equal(h.shown("east")[0], "True");
    assert.equal(hold.rounds.at(-1)?.exceptions["east"]?.kind, "StatusNotWritten");
    h.member("east").fault = () => undefined;
    await h.clock.advance(20_000);
    assert.equal(h.status("east").readyClusters, 1);
    assert.deepEqual(hold.rounds.at(-1)?.exceptions, {});
  });

  it("beats for the others while a member hangs", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.join("west");
    h.member("east").fault = () => "hang";
    const began = h.clock.monotonicMs();

    await h.start();
    assert.ok(h.clock.monotonicMs() - began <= 10_000);
    await h.clock.advance(60_000);

    assert.equal(h.shown("west")[0], "True");
    assert.equal(h.requests("west").filter(({ verb }) => verb !== "get").length, 8);
    assert.equal(h.shown("east")[0], "False");
    assert.equal(h.store.condition("east", "Ready")?.cause, "TimedOut");
  });

  it("shows an access that leads nowhere as the user's to mend", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.accessFault = { path: "access.kubeconfig.file", problem: "cannot be read", remedy: "Check the path" };
    await h.start();

    assert.equal(h.shown("east")[0], "False");
    assert.match(h.store.condition("east", "Ready")?.message ?? "", /access\.kubeconfig\.file/);
  });
});

describe("the role announce and the relay", () => {
  it("goes on beating while the table is away, and tells it the changes afterwards", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start();
    await h.toGridPoint("east");
    h.store.away = true;
    hold.writable = false;
    const before = h.requests("east").length;
    await h.clock.advance(30_000);
    assert.equal(h.requests("east").length, before + 3);

    h.leader().fault = () => kubeError("network");
    await h.clock.advance(40_000);
    assert.deepEqual(h.shown("east"), ["True", "True", "Connected"]);
    assert.equal(h.status("east").readyClusters, 1);

    h.store.away = false;
    hold.writable = true;
    await h.clock.advance(10_000);
    assert.deepEqual(h.shown("east"), ["False", "True", "Disconnected"]);
    assert.equal(h.status("east").readyClusters, 0);
  });

  it("stops when it may not even repeat", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start();
    hold.repeatable = false;
    const before = h.leader().requests.length;

    await h.clock.advance(60_000);

    assert.equal(h.leader().requests.length, before);
  });

  it("reads what the predecessor wrote last only when it alone may write, and mends it", async () => {
    const h = new RoleHarness();
    h.join("east");
    const first = await h.start(1);
    await h.toGridPoint("east");
    await h.stop(first);

    const second = await h.start(2, { writable: false });
    await h.clock.advance(1_000);
    const late = h.store.condition("east", "Ready");
    assert.ok(late !== undefined);
    const written = await h.store.writeConditions(
      { cluster: "east", protocol: "antrea", area: "announce" },
      { Ready: { ...late, status: "False", reason: "Disconnected", observedAt: h.clock.now().getTime() } },
      {},
      second.signal,
    );
    assert.equal(written.ok && written.value.kind, "written");
    second.writable = true;
    await h.clock.advance(10_000);

    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.store.condition("east", "Ready")?.fence, 2);
  });

  it("keeps conditions and their times over a change of holder", async () => {
    const h = new RoleHarness();
    h.join("east");
    const first = await h.start(1);
    await h.clock.advance(60_000);
    const before = h.store.condition("east", "Ready");
    await h.stop(first);

    await h.start(2);
    await h.clock.advance(60_000);

    assert.deepEqual(h.store.condition("east", "Ready"), before);
    assert.equal(h.store.events.length, 1);
  });

  it("writes nothing when a later fence has been there", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start(5);
    await h.toGridPoint("east");
    const standing = h.store.condition("east", "Ready");
    assert.ok(standing !== undefined);
    await h.store.writeConditions(
      { cluster: "east", protocol: "antrea", area: "announce" },
      { Ready: { ...standing, status: "Unknown", fence: 6 } },
      {},
      hold.signal,
    );

    h.leader().fault = () => kubeError("network");
    await h.clock.advance(60_000);

    assert.deepEqual(
      [h.store.condition("east", "Ready")?.status, h.store.condition("east", "Ready")?.fence],
      ["Unknown", 6],
    );
  });

  it("has no beat under way for a membership that is leaving once the revision counts as seen", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.join("west");
    await h.start();
    h.leader().fault = ({ name }) => (name.endsWith("east") ? "hang" : undefined);
    await h.toGridPoint("east");
    const east = h.store.memberships.get("east");
    assert.ok(east !== undefined);
    h.store.add({ ...east, phase: "leaving" });

    await h.prepare();
    const before = h.requests("east").length;
    await h.clock.advance(60_000);

    assert.equal(h.requests("east").length, before);
    assert.ok(h.requests("west").filter(isBeat).length >= 6);
  });

  it("beats at once for a membership that joins while it works", async () => {
    const h = new RoleHarness();
    await h.start();
    h.join("east");

    await h.prepare();

    assert.equal(h.shown("east")[0], "True");
  });

  it("looks again at once when the access of a membership has changed", async () => {
    const h = new RoleHarness();
    h.join("east");
    await h.start();
    const looks = (): number => h.member("east").requests.filter(({ verb }) => verb === "list").length;
    const before = looks();
    const east = h.store.memberships.get("east");
    assert.ok(east !== undefined);
    h.store.add({ ...east, access: { kubeconfig: { file: "other" } }, assignment: 2 });

    await h.prepare();

    assert.equal(looks(), before + 1);
  });

  it("closes every connection at the end", async () => {
    const h = new RoleHarness();
    h.join("east");
    h.join("west", { leader: "south" });
    const hold = await h.start();
    await h.clock.advance(30_000);

    await h.stop(hold);
    await h.role.close();

    assert.deepEqual(
      [...h.leaders.values(), ...h.members.values()].map(({ open }) => open),
      [0, 0, 0, 0],
    );
    assert.equal(h.clock.sleeping, 0);
  });
});
