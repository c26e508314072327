// Templates that were compiled last, by their text: an agent's instruction is rendered again at each turn.

import { Template } from './template.js';

/** How many texts are remembered at most. */
const MAX_TEXTS = 64;
/** Longer texts are compiled each time, in UTF-16 units: what is remembered stays below a few megabytes. */
const MAX_LENGTH = 32_768;

/** The one that was used longest ago comes first. */
const templates = new Map<string, Template>();

/** The template of a text, compiled now or before. Throws as the constructor of {@link Template}. */
export function compiledTemplate(text: string): Template {
  const known = templates.get(text);
  if (known !== undefined) {
    templates.delete(text);
    templates.set(text, known);
    return known;
  }
  const template = new Template(text);
  if (text.length <= MAX_LENGTH) {
    templates.set(text, template);
    const [oldest] = templates.keys();
    if (templates.size > MAX_TEXTS && oldest !== undefined) {
      templates.delete(oldest);
    }
  }
  return template;
}
