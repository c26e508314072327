// Templates that were compiled last, by their text: an agent's instruction is rendered again at each turn.
//
// To find a text in a map takes a hash of all its characters, which takes longer than to compile it. So texts are
// found by some of their characters; and only a text that comes for the second time is remembered, because most of
// those that are put together anew each time never come again.

import { Template } from './template.js';

/** How many templates are remembered at most, and how many texts that came once. */
const MAX_TEMPLATES = 64;
const MAX_SEEN = 1024;
/** Longer texts are compiled each time, in UTF-16 units: what is remembered stays below a few megabytes. */
const MAX_LENGTH = 32_768;
/** By how many of its characters a text is found. */
const SAMPLES = 32;

/** By the samples of their texts. The one that was used longest ago comes first. */
const templates = new Map<number, Template>();
/** The samples of texts that came once. */
const seen = new Set<number>();

/** The template of a text, compiled now or before. Throws as the constructor of {@link Template}. */
export function compiledTemplate(text: string): Template {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) {
    return new Template(text);
  }
  const key = sample(text);
  const known = templates.get(key);
  const template = known?.text === text ? known : new Template(text);
  if (known !== undefined || seen.has(key)) {
    remember(key, template);
  } else {
    if (seen.size === MAX_SEEN) {
      seen.clear();
    }
    seen.add(key);
  }
  return template;
}

function remember(key: number, template: Template): void {
  templates.delete(key);
  templates.set(key, template);
  const [oldest] = templates.keys();
  if (templates.size > MAX_TEMPLATES && oldest !== undefined) {
    templates.delete(oldest);
  }
}

/** A number made of the length of a text and of characters all over it. Other texts may have the same. */
function sample(text: string): number {
  const { length } = text;
  const step = Math.max(1, Math.floor(length / SAMPLES));
  let sum = length;
  for (let index = 0; index < length; index += step) {
    sum = (Math.imul(sum, 31) + text.charCodeAt(index)) | 0;
  }
  return sum;
}
