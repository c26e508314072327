// Texts of others on a terminal: names and values must not be able to move its cursor, to change its colours, or to
// show their characters in another order.

/**
 * Control characters (also those of C1, which some terminals obey), and characters that have no width or change the
 * direction of others. The joiner within emoji stays, and so do all marks on letters.
 */
const HARMFUL = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}]|(?!\u200d)\p{Cf}/gu;

/** A text with escapes, as JSON has them, in the place of harmful characters. Harmless texts stay as they are. */
export function visible(text: string): string {
  return text.replace(HARMFUL, escaped);
}

/** As {@link visible}, with the ends of lines left in: for messages of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

/** JSON in one line, with escapes for all harmful characters: it is parsed as the same value. */
export function visibleJson(value: unknown): string {
  return visible(JSON.stringify(value));
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return SHORT[character] ?? units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
