import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { doctorCommand } from "./doctor.ts";
import { eventsCommand } from "./events.ts";
import { CommandError, EXIT } from "./exit-codes.ts";
import { hubCommand } from "./hub.ts";
import { importsCommand } from "./imports.ts";
import { joinCommand } from "./join.ts";
import { leaveCommand } from "./leave.ts";
import { moveCommand } from "./move.ts";
import { pauseCommand } from "./pause.ts";
import { resumeCommand } from "./resume.ts";
import { statusCommand } from "./status.ts";
import { upCommand } from "./up.ts";

/** The `hawser` command. */
export function hawserCommand(): Command {
  return new Command("hawser")
    .description("Joins Kubernetes clusters to their hubs and keeps them joined, from outside the clusters.")
    .version(version(), "-V, --version", "print the version")
    .addCommand(upCommand())
    .addCommand(joinCommand())
    .addCommand(leaveCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(moveCommand())
    .addCommand(statusCommand())
    .addCommand(doctorCommand())
    .addCommand(importsCommand())
    .addCommand(eventsCommand())
    .addCommand(hubCommand())
    .addHelpText(
      "after",
      "\nExit codes: 0 all is well, 1 the command failed, 2 it was called wrongly, 3 what it shows is not as it should be.",
    );
}

function version(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Runs the command and answers its exit code. A user's mistake is one line; only a bug has a stack. */
export async function run(argv: readonly string[]): Promise<number> {
  const command = hawserCommand();
  for (const each of [command, ...command.commands, ...command.commands.flatMap((c) => c.commands)])
    each.exitOverride();
  try {
    await command.parseAsync([...argv], { from: "user" });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (error instanceof CommandError) {
      console.error(`hawser: ${error.message}`);
      return error.exitCode;
    }
    throw error;
  }
}

process.exitCode = await run(process.argv.slice(2));
