// A command as data. The command line is read, and its help written, from this alone: nothing else is loaded for it.

import type { Arguments } from './arguments.js';
import type { Speaker } from './tell.js';

/** An option of a command. */
export interface Option {
  readonly type: 'string' | 'boolean';
  /** True when it may be given more than once. */
  readonly multiple?: boolean;
  readonly short?: string;
  /** The name of its value in help. */
  readonly value?: string;
  /** The value where it is not given. */
  readonly default?: string;
  /** Its meaning, in a line or two; help adds the default. */
  readonly help: string;
}

/** A part of the help of a command. */
export interface HelpSection {
  readonly title: string;
  /** The widest first column, in columns; 26 by default. */
  readonly widest?: number;
  /** Names and their meanings, in two columns. */
  readonly rows: readonly (readonly [name: string, meaning: string])[];
}

/** The surroundings of a command, which speaks by its name. */
export interface Surroundings extends Speaker {
  /** The folder that paths and packages are looked for in. */
  readonly folder: string;
}

/** Runs a command. Resolves with the code that the process exits with. Throws a `CommandError`. */
export type Run = (args: Arguments, surroundings: Surroundings) => Promise<number>;

/** A command. */
export interface Command {
  readonly name: string;
  /** Its arguments, as help shows them: `ADDRESS [options]`. */
  readonly usage: string;
  /** Names of its required arguments without a name. */
  readonly positionals: readonly string[];
  /** Names of those that may follow, each only behind the ones before it. */
  readonly optionals?: readonly string[];
  /** Its purpose, in one line. */
  readonly summary: string;
  /** The values that its arguments without a name may have: help shows them first. */
  readonly operands: readonly HelpSection[];
  readonly options: Readonly<Record<string, Option>>;
  /** The rest of its help. */
  readonly sections: readonly HelpSection[];
  /** Loads the code of the command. */
  readonly load: () => Promise<{ readonly run: Run }>;
}
