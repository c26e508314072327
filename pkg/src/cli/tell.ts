// The messages of a command on standard error.

import process from 'node:process';
import { problemOf } from './problem.js';
import { visibleLines } from './visible.js';
import type { Secrets } from './secrets.js';

/** The command that speaks, and the secrets that must not be said. */
export interface Speaker {
  /** `statepad`, or the name of the command behind it. */
  readonly name: string;
  readonly secrets: Secrets;
  /** True when errors are told with their stacks. */
  readonly debug: boolean;
}

/** Says a text: `statepad show: there is no app "shop"`. */
export function tell({ name, secrets }: Speaker, text: string): void {
  process.stderr.write(`${name}: ${visibleLines(secrets.clean(text))}\n`);
}

/** Says what an error and its causes say. */
export function tellError(speaker: Speaker, error: unknown): void {
  tell(speaker, problemOf(error, speaker.secrets, speaker.debug));
}
