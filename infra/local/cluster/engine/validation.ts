import { type FieldError } from "../field-error.ts";
import type { ApiObject, UserInfo } from "../types.ts";
import { type Core, type Located, strategyContext } from "./core.ts";
import { validateMetadata, validateMetadataUpdate, validateStandardFinalizers } from "./metadata.ts";
import { validateEmbedded } from "./schema/embedded.ts";
import { validateListTypes } from "./schema/list-types.ts";
import { validateSchema } from "./schema/validate.ts";

/** Complaints about an object that is to be made. */
export function validateCreate(core: Core, at: Located, object: ApiObject, user: UserInfo): readonly FieldError[] {
  const { type, version } = at;
  const context = strategyContext(core, user);
  return [
    ...validateMetadata(object.metadata, type.namespaced, type.strategy.nameProblems),
    ...(type.custom ? [] : validateStandardFinalizers(object.metadata.finalizers ?? [])),
    ...validateContent(at, object, undefined),
    ...(type.strategy.validate?.(object, version.name, context) ?? []),
  ];
}

/** Complaints about an object that is to replace another. */
export function validateUpdate(
  core: Core,
  at: Located,
  object: ApiObject,
  old: ApiObject,
  user: UserInfo,
): readonly FieldError[] {
  const { type, version } = at;
  return [
    ...validateMetadata(object.metadata, type.namespaced),
    ...(type.custom ? [] : validateStandardFinalizers(object.metadata.finalizers ?? [])),
    ...validateMetadataUpdate(object.metadata, old.metadata),
    ...validateContent(at, object, old),
    ...(type.strategy.validate?.(object, version.name, strategyContext(core, user)) ?? []),
    ...(type.strategy.validateUpdate?.(object, old, version.name) ?? []),
  ];
}

function validateContent(at: Located, object: ApiObject, old: ApiObject | undefined): readonly FieldError[] {
  const schema = at.version.schema;
  if (schema === undefined || !at.type.custom) return [];
  const errors = [
    ...validateSchema(object, schema, old === undefined ? undefined : { value: old }),
    ...validateEmbedded(object, schema),
  ];
  if (old === undefined || validateListTypes(old, schema).length === 0)
    errors.push(...validateListTypes(object, schema));
  return errors;
}
