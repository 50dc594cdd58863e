import { ok, type Result } from "../../base/result.ts";
import type { CallOptions, KubeClient, KubeObject, ObjectRef, ResourceType } from "../../kube/client.ts";
import type { KubeError } from "../../kube/errors.ts";

/** What is known of the member's objects, as plans see it. */
export interface Observed {
  /** Undefined: there is none. */
  read(ref: ObjectRef): KubeObject | undefined;
}

/** What is known of one type. */
interface KnownType {
  readonly objects: Map<string, KubeObject>;
  /** Read and not found. */
  readonly absent: Set<string>;
  /** Found to be other than it was known to be, and not read since. */
  readonly doubtful: Set<string>;
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

  read(ref: ObjectRef): KubeObject | undefined {
    return this.#type(ref.type).objects.get(keyOf(ref));
  }

  /** Whether {@link read} can be believed. */
  knows(ref: ObjectRef): boolean {
    const { objects, absent, doubtful, complete } = this.#type(ref.type);
    const key = keyOf(ref);
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
  forget(ref: ObjectRef): void {
    const known = this.#type(ref.type);
    const key = keyOf(ref);
    known.objects.delete(key);
    known.absent.delete(key);
    known.doubtful.add(key);
  }

  /** The same for a whole type. */
  forgetAll(type: ResourceType): void {
    this.#types.delete(typeKey(type));
  }

  /** Reads those of `refs` that are not known. */
  async observe(
    member: Pick<KubeClient, "get">,
    refs: readonly ObjectRef[],
    options: CallOptions,
  ): Promise<Result<void, KubeError>> {
    for (const ref of refs) {
      if (this.knows(ref)) continue;
      const found = await member.get(ref, options);
      if (!found.ok && found.error.kind !== "notFound") return found;
      this.note(ref, found.ok ? found.value.object : undefined);
    }
    return ok(undefined);
  }

  #type(type: ResourceType): KnownType {
    const key = typeKey(type);
    const known = this.#types.get(key) ?? {
      objects: new Map<string, KubeObject>(),
      absent: new Set<string>(),
      doubtful: new Set<string>(),
      complete: false,
    };
    this.#types.set(key, known);
    return known;
  }
}

/** The address of an object that was read. */
export function refOf(type: ResourceType, { metadata }: KubeObject): ObjectRef {
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

function keyOf({ namespace, name }: ObjectRef): string {
  return `${namespace ?? ""}/${name}`;
}
