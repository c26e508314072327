// The values of all scopes in the core, by number.

import { ScopeValues } from './scope-values.js';
import type { ScopeSource } from '../engine/sessions.js';

/** Scopes by the numbers that the core gives them. */
export class ScopeTable implements ScopeSource {
  readonly #scopes: (ScopeValues | undefined)[] = [];

  valuesOf(scope: number): ScopeValues {
    return (this.#scopes[scope] ??= new ScopeValues());
  }

  remove(scope: number): void {
    this.#scopes[scope] = undefined;
    trimEnd(this.#scopes);
  }
}

/** Removes the empty end of a list. */
export function trimEnd(list: unknown[]): void {
  while (list.length > 0 && list.at(-1) === undefined) {
    list.pop();
  }
}
