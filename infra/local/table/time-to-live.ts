import type { Answer, Body, Engine } from "./engine.ts";
import { isBody } from "./keys.ts";
import { validationRefusal } from "./refusals.ts";

/** UpdateTimeToLive, DescribeTimeToLive and the expiry itself, which dynalite lacks. Kept in memory only. */
export class TimeToLive {
  readonly #engine: Engine;
  readonly #attributes = new Map<string, string>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async update(input: Body): Promise<Answer> {
    const { TableName: table, TimeToLiveSpecification: wanted } = input;
    const found = await this.#engine.run("DescribeTable", { TableName: table });
    if (found.status !== 200) return found;
    if (typeof table !== "string" || !isBody(wanted) || typeof wanted["AttributeName"] !== "string") {
      return validationRefusal("TimeToLiveSpecification needs AttributeName and Enabled");
    }
    const isOn = this.#attributes.has(table);
    if (wanted["Enabled"] === true && isOn) return validationRefusal("TimeToLive is already enabled");
    if (wanted["Enabled"] !== true && !isOn) return validationRefusal("TimeToLive is already disabled");
    if (isOn) this.#attributes.delete(table);
    else this.#attributes.set(table, wanted["AttributeName"]);
    return { status: 200, body: { TimeToLiveSpecification: wanted } };
  }

  async describe(input: Body): Promise<Answer> {
    const found = await this.#engine.run("DescribeTable", { TableName: input["TableName"] });
    if (found.status !== 200) return found;
    const attribute = this.#attributes.get(String(input["TableName"]));
    const TimeToLiveDescription =
      attribute === undefined
        ? { TimeToLiveStatus: "DISABLED" }
        : { TimeToLiveStatus: "ENABLED", AttributeName: attribute };
    return { status: 200, body: { TimeToLiveDescription } };
  }

  /** To be called when a table was deleted. */
  forget(table: string): void {
    this.#attributes.delete(table);
  }

  /**
   * Deletes every item whose moment has passed. DynamoDB does this within days of the moment, here it is when asked.
   * @returns how many were deleted
   */
  async sweep(now: Date): Promise<number> {
    let deleted = 0;
    for (const [table, attribute] of this.#attributes) deleted += await this.#sweepTable(table, attribute, now);
    return deleted;
  }

  async #sweepTable(table: string, attribute: string, now: Date): Promise<number> {
    // Only a number counts as a moment, in seconds; DynamoDB passes over any other type.
    const expired = {
      TableName: table,
      ExpressionAttributeNames: { "#ttl": attribute },
      ExpressionAttributeValues: {
        ":now": { N: String(Math.floor(now.getTime() / 1000)) },
        ":number": { S: "N" },
      },
    };
    const condition = "attribute_type(#ttl, :number) AND #ttl < :now";
    const described = await this.#engine.run("DescribeTable", { TableName: table });
    const names = keyNames(described.body);
    let deleted = 0;
    let from: unknown;
    do {
      const page = await this.#engine.run("Scan", {
        ...expired,
        FilterExpression: condition,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      });
      for (const item of Array.isArray(page.body["Items"]) ? page.body["Items"].filter(isBody) : []) {
        const Key = Object.fromEntries(names.map((name) => [name, item[name]]));
        const answer = await this.#engine.run("DeleteItem", { ...expired, Key, ConditionExpression: condition });
        if (answer.status === 200) deleted += 1;
      }
      from = page.body["LastEvaluatedKey"];
    } while (from !== undefined);
    return deleted;
  }
}

function keyNames(described: Body): string[] {
  const table = isBody(described["Table"]) ? described["Table"] : {};
  const schema = Array.isArray(table["KeySchema"]) ? table["KeySchema"].filter(isBody) : [];
  return schema.map((part) => String(part["AttributeName"]));
}
