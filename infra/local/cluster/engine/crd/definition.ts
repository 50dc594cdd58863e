import type { ApiObject } from "../../types.ts";
import { define } from "../builtin/define.ts";
import { anything, conditions, flag, listOf, struct, text, texts } from "../builtin/description.ts";
import { timestamp } from "../core.ts";
import { arrayIn, isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { validateDefinition, validateDefinitionUpdate } from "./validation.ts";

/** Finalizer of a definition whose objects are being removed. */
export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

const names = struct({
  plural: text,
  singular: text,
  kind: text,
  listKind: text,
  shortNames: texts,
  categories: texts,
});

/** apiextensions.k8s.io/v1 CustomResourceDefinition. What it defines is served as soon as it is stored. */
export const customResourceDefinitions = define({
  group: "apiextensions.k8s.io",
  kind: "CustomResourceDefinition",
  resource: "customresourcedefinitions",
  shortNames: ["crd", "crds"],
  categories: ["api-extensions"],
  namespaced: false,
  subresources: ["status"],
  schema: struct({
    spec: struct({
      group: text,
      names,
      scope: text,
      preserveUnknownFields: flag,
      conversion: anything,
      versions: listOf(
        struct({
          name: text,
          served: flag,
          storage: flag,
          deprecated: flag,
          deprecationWarning: { type: "string", nullable: true },
          schema: anything,
          subresources: anything,
          additionalPrinterColumns: listOf(anything),
          selectableFields: listOf(anything),
        }),
      ),
    }),
    status: struct({ conditions, acceptedNames: names, storedVersions: texts }),
  }),
  strategy: {
    unconditionalUpdate: false,
    generation: "spec",
    applyDefaults: applyDefinitionDefaults,
    prepareCreate: (object, { clock }) => {
      object["status"] = establishedStatus(object, timestamp(clock));
      return undefined;
    },
    prepareUpdate: (object, old) => {
      object["status"] = {
        ...objectIn(old, "status"),
        acceptedNames: acceptedNames(object),
        storedVersions: storedVersions(object, old),
      };
      return undefined;
    },
    validate: validateDefinition,
    validateUpdate: validateDefinitionUpdate,
    beginDelete: (object, now) => {
      const status = objectIn(object, "status");
      const pending = {
        type: "Terminating",
        status: "True",
        lastTransitionTime: now,
        reason: "InstanceDeletionPending",
        message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
      };
      const kept = object.metadata.finalizers ?? [];
      const finalizers = kept.includes(CLEANUP_FINALIZER) ? kept : [...kept, CLEANUP_FINALIZER];
      return {
        ...object,
        metadata: { ...object.metadata, finalizers },
        status: { ...status, conditions: [...arrayIn(status, "conditions"), pending] },
      };
    },
  },
});

function applyDefinitionDefaults(object: ApiObject): void {
  const spec = object["spec"];
  if (!isJsonObject(spec)) return;
  spec["conversion"] ??= { strategy: "None" };
  const given = spec["names"];
  if (!isJsonObject(given)) return;
  const kind = textIn(given, "kind");
  if (kind === "") return;
  given["singular"] ??= kind.toLowerCase();
  given["listKind"] ??= `${kind}List`;
}

function establishedStatus(object: ApiObject, now: string): JsonObject {
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: "True",
    lastTransitionTime: now,
    reason,
    message,
  });
  return {
    conditions: [
      condition("NamesAccepted", "NoConflicts", "no conflicts found"),
      condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
    ],
    acceptedNames: acceptedNames(object),
    storedVersions: [storageVersion(object)],
  };
}

function acceptedNames(object: ApiObject): JsonObject {
  return { ...objectIn(objectIn(object, "spec"), "names") };
}

/** The version in which objects are stored. */
export function storageVersion(object: ApiObject): string {
  const versions = objectsIn(objectIn(object, "spec"), "versions");
  return textIn(versions.find((v) => v["storage"] === true) ?? {}, "name");
}

function storedVersions(object: ApiObject, old: ApiObject): readonly unknown[] {
  const before = objectIn(old, "status")["storedVersions"];
  return [...new Set([...(Array.isArray(before) ? before : []), storageVersion(object)])];
}
