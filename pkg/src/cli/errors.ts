// The errors that end a command, and the codes that it exits with.

/** The codes that commands exit with. */
export const EXIT = {
  ok: 0,
  /** A store, a port or a file cannot be used, or something was cut off. */
  failure: 1,
  /** The command line, or a file that it names, cannot be understood. */
  usage: 2,
  /** Something that was named is not there, or a check has failed. */
  missing: 3,
} as const;

/** A failure whose message says all that its reader needs. */
export class CommandError extends Error {
  readonly code: number = EXIT.failure;
}

/** A command line that cannot be understood. */
export class UsageError extends CommandError {
  override readonly code = EXIT.usage;
}

/** Something that was named is not there. */
export class MissingError extends CommandError {
  override readonly code = EXIT.missing;
}

/** Nobody reads standard output any more, as behind `| head`: the command ends, and says nothing. */
export class ReaderGone extends CommandError {
  override readonly code = EXIT.ok;

  constructor() {
    super('nobody reads standard output any more');
  }
}
