import type { Located } from "./core.ts";
import { type ResourceType, tableOf } from "./resource-type.ts";

/** The resources that are served now. */
export class Registry {
  readonly #types = new Map<string, ResourceType>();

  /** Serves a resource, or serves it anew after its definition changed. */
  add(type: ResourceType): void {
    this.#types.set(tableOf(type), type);
  }

  remove(group: string, resource: string): void {
    this.#types.delete(tableOf({ group, resource }));
  }

  get(group: string, resource: string): ResourceType | undefined {
    return this.#types.get(tableOf({ group, resource }));
  }

  /** The resource in a version in which it is served. */
  locate(group: string, version: string, resource: string): Located | undefined {
    const type = this.get(group, resource);
    const found = type?.versions.find((v) => v.name === version && v.served);
    return type === undefined || found === undefined ? undefined : { type, version: found };
  }

  /** The resource of a kind, in a version in which it is served. */
  locateKind(group: string, version: string, kind: string): Located | undefined {
    const type = this.all().find((t) => t.group === group && t.kind === kind);
    return type === undefined ? undefined : this.locate(group, version, type.resource);
  }

  all(): readonly ResourceType[] {
    return [...this.#types.values()];
  }
}
