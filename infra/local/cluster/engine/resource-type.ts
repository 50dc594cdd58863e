import type { Clock } from "../../../../lib/base/clock.ts";
import type { FieldError } from "../field-error.ts";
import type { ApiObject, ApiStatus, UserInfo } from "../types.ts";
import type { Schema } from "./schema/schema.ts";

/** One version under which a resource is served. */
export interface ResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly schema: Schema | undefined;
  readonly subresources: ReadonlySet<string>;
  /** Of custom resources: JSON paths that field selectors may use. */
  readonly selectableFields?: readonly string[];
  /** Sent as a `Warning` header with each answer. */
  readonly deprecation?: string;
}

/** A resource as it is registered, built in or from a CustomResourceDefinition. */
export interface ResourceType {
  readonly group: string;
  readonly kind: string;
  readonly listKind: string;
  readonly resource: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly versions: readonly ResourceVersion[];
  readonly storageVersion: string;
  readonly custom: boolean;
  /** The definition is being deleted: nothing new is made. */
  readonly terminating: boolean;
  readonly strategy: Strategy;
}

/** What a strategy may look at while it prepares or checks an object. */
export interface StrategyContext {
  readonly clock: Clock;
  readonly user: UserInfo;
  readonly read: (table: string, key: string) => ApiObject | undefined;
  readonly list: (table: string, namespace?: string) => readonly ApiObject[];
}

/** The rules of one kind of object. Objects passed to `prepare*` and `applyDefaults` may be changed in place. */
export interface Strategy {
  /** An update may leave resourceVersion out and then overwrites whatever is stored. */
  readonly unconditionalUpdate: boolean;
  /** A PUT of an object that does not exist makes it. */
  readonly createOnUpdate?: boolean;
  /** A delete that removes the object answers with the object, not with a Status. */
  readonly returnsDeleted: boolean;
  /**
   * What bumps metadata.generation: nothing, a change of spec, or of anything but metadata (and status, if a subresource),
   * with or without the labels.
   */
  readonly generation: "none" | "spec" | "content" | "contentAndLabels";
  /** Complaints about a name; `prefix` when it is a generateName. */
  readonly nameProblems: (name: string, prefix: boolean) => readonly string[];
  readonly applyDefaults?: (object: ApiObject, version: string) => void;
  readonly prepareCreate?: (object: ApiObject, context: StrategyContext) => ApiStatus | undefined;
  readonly prepareUpdate?: (object: ApiObject, old: ApiObject, context: StrategyContext) => ApiStatus | undefined;
  /** The same for a subresource other than `status`, or besides what `status` always does. */
  readonly prepareSubresource?: (
    subresource: string,
    object: ApiObject,
    old: ApiObject,
    context: StrategyContext,
  ) => ApiStatus | undefined;
  readonly validate?: (object: ApiObject, version: string, context: StrategyContext) => readonly FieldError[];
  readonly validateUpdate?: (object: ApiObject, old: ApiObject, version: string) => readonly FieldError[];
  /** After validation: a canonical form, for example sorted lists. */
  readonly canonicalize?: (object: ApiObject) => void;
  /** Fields that field selectors may name, besides metadata.name and metadata.namespace. */
  readonly selectable?: (object: ApiObject) => Readonly<Record<string, string>>;
  /** Objects that stay when their last finalizer has gone, because something else still holds them. */
  readonly outlivesFinalizers?: (object: ApiObject) => boolean;
  /** Changes the object when its deletion begins; an object that this hands back stays until a controller removes it. */
  readonly beginDelete?: (object: ApiObject, now: string) => ApiObject;
  /** Refuses the deletion of some objects. */
  readonly refuseDelete?: (object: ApiObject) => ApiStatus | undefined;
}

/** The store's name of a resource's table. */
export function tableOf(type: { readonly group: string; readonly resource: string }): string {
  return `${type.group}/${type.resource}`;
}

/** `group/version`, or the version alone in the core group. */
export function apiVersionOf(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}
