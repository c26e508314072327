// The prompt of a session without a template: what a template is for, and two ways to begin.

import { html, type TemplateResult } from 'lit';
import type { KeyRow } from '../model/rows.js';
import { icon } from '../ui/icons.js';

/** The number of keys in an example. */
const EXAMPLE_KEYS = 6;

/** The ways to begin. */
export interface Beginnings {
  readonly write: () => void;
  readonly example: () => void;
}

/** The content of the pane until there is a template. */
export function beginning(canMakeExample: boolean, { write, example }: Beginnings): TemplateResult {
  return html`<div class="beginning">
    <h3>See the prompt as the model saw it</h3>
    <p>
      Paste your agent’s instruction. Where it has <code class="spot" data-scope="session">{city}</code> or
      <code class="spot" data-scope="user">{user:name}</code>, you see the words that the state put there, the event that
      wrote them, and how they change over time.
    </p>
    <p class="row">
      <button class="main" @click=${write}>${icon('edit')}Write or paste a template</button>
      <button ?disabled=${!canMakeExample} @click=${example}>Make one from the keys of this session</button>
    </p>
  </div>`;
}

/** True when {@link exampleOf} has keys to name. */
export function hasExample(rows: readonly KeyRow[]): boolean {
  return rows.some(isUsable);
}

/** A template with keys of the state, to begin with. */
export function exampleOf(rows: readonly KeyRow[]): string {
  const lines = rows
    .filter(isUsable)
    .slice(0, EXAMPLE_KEYS)
    .map(({ key, name }) => `${name.replaceAll('_', ' ')}: {${key}?}`);
  return ['You are a helpful agent. This is what you know:', ...lines].join('\n');
}

/** True for a key that a placeholder can name. */
function isUsable({ value, scope, name }: KeyRow): boolean {
  return value !== undefined && scope !== 'temp' && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name);
}
