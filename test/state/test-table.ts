import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after } from "node:test";
import type { TableFaults } from "../../infra/local/table/faults.ts";
import { startTable } from "../../infra/local/table/table.ts";
import { createTableFromTemplate } from "../../infra/local/table/template.ts";
import { type Clock, systemClock } from "../../lib/base/clock.ts";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import type { Result } from "../../lib/base/result.ts";
import { openState, type State, type StateOptions } from "../../lib/state/state.ts";

/** A table to test against. */
export interface TestTable {
  readonly url: string;
  readonly tableName: string;
  /** Present where the table is the embedded one. */
  readonly faults: TableFaults | undefined;
  /** Drops what has expired by now; does nothing where that cannot be forced. */
  sweep(): Promise<void>;
  /** The state in this table, over a client of its own. */
  open(options?: Partial<StateOptions>): State;
}

/** A DynamoDB that tests make tables in. */
export interface TestServer {
  table(): Promise<TestTable>;
}

/**
 * The embedded DynamoDB, or the one that DYNAMODB_LOCAL_URL names. It ends with the file that started it. With
 * `embeddedOnly` it is always the embedded one, which can be made to fail.
 */
export async function startTestServer(
  only: {
    readonly embeddedOnly?: boolean;
    /** Time of the embedded one, which its delays are counted by. */
    readonly serverClock?: Clock;
  } = {},
): Promise<TestServer> {
  // Any keys will do for both; the SDK refuses to send without some.
  process.env["AWS_ACCESS_KEY_ID"] ??= "local";
  process.env["AWS_SECRET_ACCESS_KEY"] ??= "local";
  const real = only.embeddedOnly === true ? undefined : process.env["DYNAMODB_LOCAL_URL"];
  const embedded = real === undefined ? await startTable({ clock: only.serverClock ?? systemClock }) : undefined;
  const url = real ?? embedded?.url ?? "";
  const template = await readFile(new URL("../../infra/aws/table.yml", import.meta.url), "utf8");
  const opened: State[] = [];
  after(async () => {
    for (const state of opened) state.close();
    await embedded?.stop();
  });
  return {
    table: async () => {
      const tableName = `hawser-${randomUUID()}`;
      await createTableFromTemplate(url, template, tableName);
      const open = (options: Partial<StateOptions> = {}): State => {
        const clock: Clock = options.clock ?? systemClock;
        const ids = systemIds(clock, systemRandom);
        const base = { tableName, endpoint: url, region: "local", clock, random: systemRandom, ids };
        const state = openState({ ...base, ...options });
        opened.push(state);
        return state;
      };
      const sweep = async (): Promise<void> => {
        await embedded?.sweep(systemClock.now());
      };
      return { url, tableName, faults: embedded?.faults, sweep, open };
    },
  };
}

/** The value of a result that must be a success. */
export function must<T>(result: Result<T, { readonly message: string }>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** Asks again, as callers do, while nothing is known; many racers on a slow machine meet timeouts too. */
export async function settled<T>(
  ask: () => Promise<Result<T, { readonly kind: string; readonly message: string }>>,
): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    const result = await ask();
    const passing = !result.ok && ["timeout", "throttled", "unavailable"].includes(result.error.kind);
    if (!passing || tries === 20) return must(result);
  }
}

/** A signal that never fires. */
export const never = new AbortController().signal;
