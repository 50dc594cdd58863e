import type { Body, Engine } from "./engine.ts";

/** One item that a request names. */
export interface ItemKey {
  readonly table: string;
  /** The key attributes in the JSON form of DynamoDB: `{"pk": {"S": "..."}}`. */
  readonly attributes: Body;
}

/** A text that is the same for the same item. */
export function lockName(key: ItemKey): string {
  const names = Object.keys(key.attributes).toSorted();
  return `${key.table}\n${JSON.stringify(names.map((name) => [name, key.attributes[name]]))}`;
}

/** True for a JSON object. */
export function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Finds out which items a request names; remembers the key schema of each table. */
export class ItemKeys {
  readonly #engine: Engine;
  readonly #schemas = new Map<string, readonly string[]>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** To be called when a table was made or deleted. */
  forget(): void {
    this.#schemas.clear();
  }

  /** The items that a request reads or writes by key; empty for queries, scans, table operations and malformed requests. */
  async of(operation: string, input: Body): Promise<ItemKey[]> {
    switch (operation) {
      case "GetItem":
      case "UpdateItem":
      case "DeleteItem":
        return byKey(input);
      case "PutItem":
        return await this.#byItem(input);
      case "BatchGetItem":
        return byKeys(input);
      case "BatchWriteItem":
        return await this.#batchWrite(input);
      case "TransactGetItems":
      case "TransactWriteItems":
        return await this.#transaction(input);
      default:
        return [];
    }
  }

  async #transaction(input: Body): Promise<ItemKey[]> {
    const items = Array.isArray(input["TransactItems"]) ? input["TransactItems"].filter(isBody) : [];
    const keys: ItemKey[] = [];
    for (const item of items) {
      for (const [kind, action] of Object.entries(item)) {
        if (isBody(action)) keys.push(...(kind === "Put" ? await this.#byItem(action) : byKey(action)));
      }
    }
    return keys;
  }

  async #batchWrite(input: Body): Promise<ItemKey[]> {
    const keys: ItemKey[] = [];
    for (const [table, requests] of Object.entries(isBody(input["RequestItems"]) ? input["RequestItems"] : {})) {
      for (const request of Array.isArray(requests) ? requests.filter(isBody) : []) {
        const { PutRequest: put, DeleteRequest: remove } = request;
        if (isBody(put)) keys.push(...(await this.#byItem({ ...put, TableName: table })));
        if (isBody(remove)) keys.push(...byKey({ ...remove, TableName: table }));
      }
    }
    return keys;
  }

  async #byItem(input: Body): Promise<ItemKey[]> {
    const { TableName: table, Item: item } = input;
    if (typeof table !== "string" || !isBody(item)) return [];
    const names = await this.#schema(table);
    return [{ table, attributes: Object.fromEntries(names.map((name) => [name, item[name]])) }];
  }

  async #schema(table: string): Promise<readonly string[]> {
    const known = this.#schemas.get(table);
    if (known !== undefined) return known;
    const { status, body } = await this.#engine.run("DescribeTable", { TableName: table });
    if (status !== 200 || !isBody(body["Table"])) return [];
    const schema = body["Table"]["KeySchema"];
    const names = (Array.isArray(schema) ? schema.filter(isBody) : []).map((part) => String(part["AttributeName"]));
    this.#schemas.set(table, names);
    return names;
  }
}

function byKey(input: Body): ItemKey[] {
  const { TableName: table, Key: attributes } = input;
  return typeof table === "string" && isBody(attributes) ? [{ table, attributes }] : [];
}

function byKeys(input: Body): ItemKey[] {
  if (!isBody(input["RequestItems"])) return [];
  return Object.entries(input["RequestItems"]).flatMap(([table, request]) =>
    isBody(request) && Array.isArray(request["Keys"])
      ? request["Keys"].filter(isBody).map((attributes) => ({ table, attributes }))
      : [],
  );
}
