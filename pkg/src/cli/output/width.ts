// The columns that a text takes on a terminal.

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Characters of one column each, which most texts consist of. */
const NARROW = /^[\x20-\x7e\u00a1-\u02ff]*$/;

/** The first character of a grapheme that takes two columns: an emoji, or a character of East Asia. */
const WIDE = new RegExp(
  '^(?:\\p{Emoji_Presentation}|\\p{RI}|.\\ufe0f|' +
    '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\p{Script=Yi}' +
    '\\u3000-\\u303e\\uff01-\\uff60\\uffe0-\\uffe6])',
  'u',
);
/** Katakana of half the width. */
const HALF = /^[\uff61-\uffdc]/;

/** The columns of a text without control characters. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) {
    return text.length;
  }
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += widthOfGrapheme(segment);
  }
  return width;
}

function widthOfGrapheme(grapheme: string): number {
  if (/^\p{M}+$/u.test(grapheme)) {
    return 0;
  }
  return WIDE.test(grapheme) && !HALF.test(grapheme) ? 2 : 1;
}

/** A text of at most so many columns; one that is longer ends in `…`. */
export function cutTo(text: string, most: number): string {
  if (text.length <= most && NARROW.test(text)) {
    return text;
  }
  let width = 0;
  let kept = '';
  for (const { segment } of GRAPHEMES.segment(text)) {
    width += widthOfGrapheme(segment);
    if (width > most) {
      return withEllipsis(kept, most);
    }
    kept += segment;
  }
  return kept;
}

/** The longest beginning of a text that leaves one column for the ellipsis. */
function withEllipsis(text: string, most: number): string {
  const graphemes = [...GRAPHEMES.segment(text)].map(({ segment }) => segment);
  while (graphemes.length > 0 && widthOf(graphemes.join('')) > most - 1) {
    graphemes.pop();
  }
  return most < 1 ? '' : `${graphemes.join('')}…`;
}

/** A text with blanks behind it, up to so many columns. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}
