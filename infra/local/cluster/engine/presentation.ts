import type { ApiObject } from "../types.ts";
import type { Located } from "./core.ts";
import { apiVersionOf } from "./resource-type.ts";

/** The object as it is shown in a version: custom resources convert by their apiVersion alone (strategy None). */
export function present(object: ApiObject, at: Located): ApiObject {
  const apiVersion = apiVersionOf(at.type.group, at.version.name);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
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
