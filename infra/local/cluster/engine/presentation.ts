import type { ApiObject } from "../types.ts";
import type { Located } from "./core.ts";
import { cloneJson } from "./json.ts";
import { apiVersionOf } from "./resource-type.ts";
import { applyDefaults } from "./schema/defaulting.ts";
import { prune } from "./schema/prune.ts";

/**
 * The object as it is shown in a version: custom resources convert by their apiVersion alone (strategy None), and lose
 * what the version's schema does not know.
 */
export function present(object: ApiObject, at: Located): ApiObject {
  const apiVersion = apiVersionOf(at.type.group, at.version.name);
  if (object.apiVersion === apiVersion) return object;
  const { schema } = at.version;
  if (!at.type.custom || schema === undefined) return { ...object, apiVersion };
  const shown = { ...cloneJson(object), apiVersion };
  prune(shown, schema, { unknown: () => undefined, root: true });
  applyDefaults(shown, schema);
  return shown;
}

/** The object as an item of a list: built-in ones go without kind and apiVersion there, custom ones with. */
export function presentItem(object: ApiObject, at: Located): Record<string, unknown> {
  if (at.type.custom) return present(object, at);
  const { apiVersion: _apiVersion, kind: _kind, ...rest } = object;
  return rest;
}

/** An object in the version in which it is stored. */
export function toStorage(object: ApiObject, at: Located): ApiObject {
  const apiVersion = apiVersionOf(at.type.group, at.type.storageVersion);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}
