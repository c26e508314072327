// The arguments of one call of a command, by their names.

import { UsageError } from './errors.js';

/** The arguments of one call. Options that are not given have their defaults. */
export class Arguments {
  readonly positionals: readonly string[];
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(positionals: readonly string[], values: Readonly<Record<string, unknown>>) {
    this.positionals = positionals;
    this.#values = values;
  }

  /** True when an option without a value is given. */
  has(name: string): boolean {
    return this.#values[name] === true;
  }

  /** The value of an option that has a default. */
  text(name: string): string {
    return this.#values[name] as string;
  }

  /** The value of an option that may be absent. */
  optional(name: string): string | undefined {
    return this.#values[name] as string | undefined;
  }

  /** The values of an option that may be repeated. */
  texts(name: string): readonly string[] {
    return (this.#values[name] ?? []) as readonly string[];
  }

  /** A whole number. Throws `UsageError`. */
  number(name: string, { least, most }: { readonly least: number; readonly most: number }): number {
    const text = this.text(name);
    const number = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!(number >= least && number <= most)) {
      throw new UsageError(`--${name} must be a whole number from ${least} to ${most}`);
    }
    return number;
  }

  /** One of a list of words. Throws `UsageError`. */
  choice<Word extends string>(name: string, words: readonly Word[]): Word {
    const text = this.text(name);
    if (!(words as readonly string[]).includes(text)) {
      throw new UsageError(`--${name} must be one of ${words.join(', ')}`);
    }
    return text as Word;
  }
}
