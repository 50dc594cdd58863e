import { Command, CommanderError } from "commander";
import { EXIT } from "../../infra/cli/exit-codes.ts";
import { beatCommand } from "./beat.ts";
import { importsCommand } from "./imports.ts";

/** Every bench, a file each: its name is the word on the command line. */
const BENCHES: readonly (() => Command)[] = [beatCommand, importsCommand];

/** Runs a bench and answers the exit code: figures are reported and never judged, so that no run fails by being slow. */
async function run(argv: readonly string[]): Promise<number> {
  const command = new Command("bench")
    .usage("<name> [options]")
    .description("Measures Hawser on this machine. Call as: npm run bench -- <name> [options]");
  for (const bench of BENCHES) command.addCommand(bench());
  for (const each of [command, ...command.commands]) each.exitOverride();
  try {
    await command.parseAsync([...argv], { from: "user" });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    throw error;
  }
}

process.exitCode = await run(process.argv.slice(2));
