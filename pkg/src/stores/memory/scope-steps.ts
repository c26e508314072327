// What has happened to a scope lately: enough to tell a reader that was there before what to change.

import type { ScopeValues } from '../shared/scope-values.js';
import type { Delta } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** How many steps are kept at least. Twice as many are, at times: so that forgetting costs nothing per step. */
export const KEPT_STEPS = 1000;

/** One change of a scope. */
interface Step {
  readonly mark: string | undefined;
  readonly delta: Pick<Delta, 'unset'> & { readonly names: readonly string[]; readonly born: ReadonlySet<string> };
}

/** The latest steps of one scope. The values that they wrote are not kept: those of now are what is told. */
export class ScopeSteps {
  #steps: Step[] = [];
  /** The position that the first step came to. */
  #first = 1;

  /** Remembers a step, just before it is made. `pos` is where it comes to. */
  add(pos: number, mark: string | undefined, { set = {}, unset = [] }: Delta, values: ScopeValues): void {
    if (pos !== this.#first + this.#steps.length) {
      this.#steps = [];
      this.#first = pos;
    }
    const gone = new Set(unset);
    const names = Object.keys(set);
    const born = new Set(names.filter((name) => gone.has(name) || !values.has(name)));
    this.#steps.push({ mark, delta: { unset, names, born } });
    if (this.#steps.length > 2 * KEPT_STEPS) {
      this.#first += this.#steps.length - KEPT_STEPS;
      this.#steps = this.#steps.slice(-KEPT_STEPS);
    }
  }

  /** Forgets all steps up to a position, which nobody can be told the way from any more. */
  clear(pos: number): void {
    this.#steps = [];
    this.#first = pos + 1;
  }

  /** What has happened since a position that had this mark; `undefined` where that is not known for sure. */
  since(pos: number, mark: string | undefined, values: ScopeValues): Delta | undefined {
    const place = pos - this.#first;
    const known = this.#steps[place];
    if (mark === undefined || known?.mark !== mark) {
      return undefined;
    }
    const touched = new Set<string>();
    const born = new Set<string>();
    for (const { delta } of this.#steps.slice(place + 1)) {
      for (const name of delta.unset ?? []) {
        touched.add(name);
        born.delete(name);
      }
      for (const name of delta.names) {
        touched.add(name);
        if (delta.born.has(name)) {
          // Behind all that are there: in the order in which they were last written anew.
          born.delete(name);
          born.add(name);
        }
      }
    }
    const names = [...touched];
    const set = Object.create(null) as Record<string, Json>;
    for (const name of [...names.filter((each) => values.has(each) && !born.has(each)), ...born]) {
      set[name] = values.get(name) as Json;
    }
    return { set, unset: names.filter((name) => born.has(name) || !values.has(name)) };
  }
}
