import assert from "node:assert/strict";
import { heldRights, rightsIn } from "../../../support/held-rights.ts";

const INFRA = new URL("../../../../infra/", import.meta.url);

/** Kubeconfigs of one member's two identities. */
export interface Identities {
  /** Hawser's, in the member. */
  readonly hawser: string;
  /** The member's, in its leader. */
  readonly member: string;
  readonly secret: string;
  readonly commonArea: string;
}

/** Hawser has what the manifests for users give and nothing more; a member has what Antrea's leader gives its members. */
export async function assertRights({ hawser, member, secret, commonArea }: Identities): Promise<void> {
  const manifest = new URL("kubernetes/member/hawser.yaml", INFRA);
  const everywhere = ["hawser-identity", "hawser-antrea-imports"]
    .flatMap((role) => rightsIn(manifest, role))
    .toSorted();
  const inNamespace = rightsIn(manifest, "hawser-antrea-member", { "member-east-token": secret });
  assert.deepEqual(await heldRights(hawser, "kube-system"), [...everywhere, ...inNamespace].toSorted());
  assert.deepEqual(await heldRights(hawser, "default"), everywhere);

  const role = "antrea-mc-member-cluster-role";
  const antreas = rightsIn(new URL("local/leader/member-cluster-role.yaml", INFRA), role);
  assert.deepEqual(await heldRights(member, commonArea), antreas);
  assert.deepEqual(await heldRights(member, "default"), []);
  const used = rightsIn(new URL("kubernetes/leader/member-role.yaml", INFRA), role);
  assert.deepEqual(
    used.filter((right) => !antreas.includes(right)),
    [],
    "what Hawser uses is part of what Antrea gives",
  );
}
