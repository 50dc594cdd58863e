/** Exit codes of every command. */
export const EXIT = {
  ok: 0,
  /** The command could not do its work. */
  failed: 1,
  /** The command was called wrongly. */
  usage: 2,
  /** The command worked; what it shows is not as it should be. */
  degraded: 3,
} as const;

/** One of {@link EXIT}. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A mistake of the user or a fault of the surroundings: shown as it is, without a stack. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;
  constructor(message: string, exitCode: ExitCode = EXIT.failed) {
    super(message);
    this.name = "CommandError";
    this.exitCode = exitCode;
  }
}
