import { ok, type Result } from "../../base/result.ts";
import type { CallOptions, KubeClient, KubeObject, ObjectRef, ResourceType } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";

/** What is known of the member's objects, as plans see it. */
export interface Observed {
  /** Undefined: there is none. */
  read(ref: ObjectRef): KubeObject | undefined;
  /** What is known of a selection; empty: there is nothing. */
  select(selection: Selection): readonly KubeObject[];
  /** Whether the member does not let us have objects of the type at all. */
  isRefused(type: ResourceType): boolean;
}

/** Objects of a type in one Namespace that carry some labels. */
export interface Selection {
  readonly type: ResourceType;
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether all of them are in a complete list of the type, see {@link MemberObjects.noteAll}. */
  readonly listed: boolean;
}

/** Something to look at: an object, or those of a selection. */
export type Look = ObjectRef | Selection;

/** What is known of one type. */
interface KnownType {
  readonly objects: Map<string, KubeObject>;
  /** Read and not found. */
  readonly absent: Set<string>;
  /** Found to be other than it was known to be, and not read since. */
  readonly doubtful: Set<string>;
  /** Selections that were read. */
  readonly selections: Set<string>;
  /** All that matter are known: what is not among `objects` is not there. */
  complete: boolean;
}

/**
 * What is known of the objects in one member: from complete lists, from single reads and from the answers to our own
 * writes. It may be behind: every write is bound to the version that was seen, and what turns out to be different is
 * forgotten and read again.
 */
export class MemberObjects implements Observed {
  readonly #types = new Map<string, KnownType>();
  readonly #refused = new Set<string>();

  read(ref: ObjectRef): KubeObject | undefined {
    return this.#type(ref.type).objects.get(keyOf(ref));
  }

  select({ type, namespace, labels }: Selection): readonly KubeObject[] {
    return this.all(type).filter(
      ({ metadata }) =>
        metadata.namespace === namespace &&
        Object.entries(labels).every(([label, value]) => metadata.labels?.[label] === value),
    );
  }

  isRefused(type: ResourceType): boolean {
    return this.#refused.has(typeKey(type));
  }

  /** Until the type is listed again. */
  noteRefused(type: ResourceType): void {
    this.#refused.add(typeKey(type));
  }

  /** Whether {@link read} or {@link select} can be believed. */
  knows(look: Look): boolean {
    const { objects, absent, doubtful, selections, complete } = this.#type(look.type);
    if (!isObject(look))
      return selections.has(selectionKey(look)) || (complete && look.listed && !doubtful.has(selectionKey(look)));
    const key = keyOf(look);
    return objects.has(key) || absent.has(key) || (complete && !doubtful.has(key));
  }

  /** All that is known of a type, in no particular order. */
  all(type: ResourceType): readonly KubeObject[] {
    return [...this.#type(type).objects.values()];
  }

  /** Whether the type was listed completely. */
  hasAll(type: ResourceType): boolean {
    return this.#type(type).complete;
  }

  /** @param object undefined: there is none */
  note(ref: ObjectRef, object: KubeObject | undefined): void {
    const key = keyOf(ref);
    const known = this.#type(ref.type);
    known.doubtful.delete(key);
    if (object === undefined) {
      known.objects.delete(key);
      if (!known.complete) known.absent.add(key);
    } else {
      known.absent.delete(key);
      known.objects.set(key, lean(object));
    }
  }

  /** Takes in a complete list of a type in place of all that was known of it. */
  noteAll(type: ResourceType, objects: readonly KubeObject[]): void {
    this.forgetAll(type);
    for (const object of objects) this.note(refOf(type, object), object);
    this.#type(type).complete = true;
  }

  /** It is read again before anybody plans with it. */
  forget(look: Look): void {
    const known = this.#type(look.type);
    if (!isObject(look)) {
      for (const object of this.select(look)) known.objects.delete(keyOf(refOf(look.type, object)));
      known.selections.delete(selectionKey(look));
      known.doubtful.add(selectionKey(look));
      return;
    }
    const key = keyOf(look);
    known.objects.delete(key);
    known.absent.delete(key);
    known.doubtful.add(key);
  }

  /** The same for a whole type. */
  forgetAll(type: ResourceType): void {
    this.#types.delete(typeKey(type));
    this.#refused.delete(typeKey(type));
  }

  /** Reads those of `looks` that are not known. */
  async observe(
    member: Pick<KubeClient, "get" | "list">,
    looks: readonly Look[],
    options: CallOptions,
  ): Promise<Result<void, KubeError>> {
    for (const ref of looks) {
      if (this.knows(ref)) continue;
      if (!isObject(ref)) {
        const read = await this.#observeSelection(member, ref, options);
        if (!read.ok) return read;
        continue;
      }
      const found = await member.get(ref, options);
      if (!found.ok && found.error.kind !== "notFound") return found;
      this.note(ref, found.ok ? found.value.object : undefined);
    }
    return ok(undefined);
  }

  async #observeSelection(
    member: Pick<KubeClient, "list">,
    selection: Selection,
    options: CallOptions,
  ): Promise<Result<void, KubeError>> {
    const { type, namespace, labels } = selection;
    const labelSelector = Object.entries(labels)
      .map(([label, value]) => `${label}=${value}`)
      .join(",");
    const listed = await member.list(type, namespace, { ...options, labelSelector });
    if (!listed.ok) return listed;
    this.forget(selection);
    for (const object of listed.value.items) this.note(refOf(type, object), object);
    const known = this.#type(type);
    known.doubtful.delete(selectionKey(selection));
    known.selections.add(selectionKey(selection));
    return ok(undefined);
  }

  #type(type: ResourceType): KnownType {
    const key = typeKey(type);
    const known = this.#types.get(key) ?? {
      objects: new Map<string, KubeObject>(),
      absent: new Set<string>(),
      doubtful: new Set<string>(),
      selections: new Set<string>(),
      complete: false,
    };
    this.#types.set(key, known);
    return known;
  }
}

/** The address of an object that was read. */
function refOf(type: ResourceType, { metadata }: KubeObject): ObjectRef {
  const { name = "", namespace } = metadata;
  return { type, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Who changed which field when is a large part of an object, and nothing to us; an update without it keeps it. */
function lean({ metadata, ...rest }: KubeObject): KubeObject {
  const { managedFields: _, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function typeKey({ group, resource }: ResourceType): string {
  return `${resource}.${group}`;
}

function isObject(look: Look): look is ObjectRef {
  return "name" in look;
}

function selectionKey({ namespace, labels }: Selection): string {
  return JSON.stringify([namespace, labels]);
}

function keyOf({ namespace, name }: ObjectRef): string {
  return `${namespace ?? ""}/${name}`;
}
