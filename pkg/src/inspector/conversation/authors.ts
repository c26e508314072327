// The sign of an author: an initial in a colour.

import { html, type TemplateResult } from 'lit';
import type { Log } from '../model/log.js';
import { icon } from '../ui/icons.js';

/** The number of colours in the style sheet. */
const COLOURS = 6;

/** The colour of an author, by the order in which the agents of the session first spoke. */
export function colourOf(log: Log, author: string): number {
  const agents = log.authors.filter((one) => one !== 'user');
  return Math.max(agents.indexOf(author), 0) % COLOURS;
}

/** An author's sign. Readers of a screen have the name beside it. */
export function avatar(log: Log, author: string): TemplateResult {
  const letter = [...new Intl.Segmenter().segment(author.trim())][0]?.segment.toLocaleUpperCase() ?? '';
  return html`<span class="avatar" data-colour=${colourOf(log, author)} aria-hidden="true"
    >${letter === '' ? icon('agent') : letter}</span
  >`;
}
