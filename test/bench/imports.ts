import { Command, InvalidArgumentError } from "commander";

/** Options of the bench `imports`, parsed. */
export interface ImportsBenchOptions {
  /** Imports of the complete compare. */
  readonly size: number;
  /** Events whose way into the member is timed. */
  readonly events: number;
  readonly json: boolean;
}

/** `bench imports`: how soon an import is in its member, and what a complete compare costs. */
export function importsCommand(): Command {
  return new Command("imports")
    .description(
      "ResourceImports from a leader into a member: from event to object, and a complete compare of thousands.",
    )
    .option("--size <n>", "imports of the complete compare", parseCount, 5_000)
    .option("--events <n>", "events that are timed, one after the other", parseCount, 200)
    .option("--quick", "500 imports and 50 events", false)
    .option("--json", "one JSON document instead of Markdown", false)
    .addHelpText("after", HELP)
    .action(async ({ quick, ...given }: ImportsBenchOptions & { readonly quick: boolean }) => {
      const { runImports } = await import("./imports/run.ts");
      await runImports(quick ? { ...given, size: 500, events: 50 } : given);
    });
}

const HELP = `
Leader and member are simulated API servers over HTTPS, the table is the embedded one; all three run in a process beside
the one that imports, so that CPU and memory are its alone. Nothing is judged: the exit code says only whether the measuring
worked.`;

function parseCount(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("Must be a whole number from 1.");
  return value;
}
