// The templates that were compiled last, by their text: an agent's instruction is rendered again at each turn.
//
// Looking up a text in a map hashes all its characters, which takes longer than compiling it. So the key is a sample
// of its characters; and only a text that comes for the second time is cached, because most texts that are composed
// anew each time never come again.

import { Template } from './template.js';

/** The largest number of cached templates, and of texts that came once. */
const MAX_TEMPLATES = 64;
const MAX_KNOWN_SAMPLES = 1024;
/** Longer texts, in UTF-16 units, are compiled each time: the cache stays below a few megabytes. */
const MAX_LENGTH = 32_768;
/** The number of characters in a sample. */
const SAMPLES = 32;

/** By the samples of their texts, the least recently used first. */
const templates = new Map<number, Template>();
/** The samples of texts that came once. */
const knownSamples = new Set<number>();

/** The template of a text, compiled or cached. Throws as the constructor of {@link Template}. */
export function compiledTemplate(text: string): Template {
  if (typeof text !== 'string' || text.length > MAX_LENGTH) {
    return new Template(text);
  }
  const key = sample(text);
  const known = templates.get(key);
  const template = known?.text === text ? known : new Template(text);
  if (known !== undefined || knownSamples.has(key)) {
    remember(key, template);
  } else {
    if (knownSamples.size === MAX_KNOWN_SAMPLES) {
      knownSamples.clear();
    }
    knownSamples.add(key);
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

/** A number made of the length of a text and of characters all over it. Samples may collide. */
function sample(text: string): number {
  const { length } = text;
  const step = Math.max(1, Math.floor(length / SAMPLES));
  let sum = length;
  for (let index = 0; index < length; index += step) {
    sum = (Math.imul(sum, 31) + text.charCodeAt(index)) | 0;
  }
  return sum;
}
