import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import type { ItemKey } from "../keys.ts";
import type { Placeholders } from "./expression.ts";
import type { Item } from "./table.ts";

/** An item as DynamoDB carries it. */
export type Attributes = Record<string, AttributeValue>;

/** Plain values as attribute values; what is undefined is left out. */
export function toAttributes(of: Item): Attributes {
  return marshall(of, { removeUndefinedValues: true });
}

/** Attribute values as plain values. */
export function toItem(of: Attributes | undefined): Item | undefined {
  return of === undefined ? undefined : unmarshall(of);
}

/** A key's own two attributes, whatever else the object carries. */
export function keyOf({ pk, sk }: ItemKey): Attributes {
  return { pk: { S: pk }, sk: { S: sk } };
}

/** The values of an expression; undefined when there are none, as an empty map is refused. */
export function valuesOf(placeholders: Placeholders): Attributes | undefined {
  const values = placeholders.values();
  return values === undefined ? undefined : toAttributes(values);
}
