// Fuzzy matching: the letters of a query in the order in which they are typed, with others between them.

/** A match. */
export interface FuzzyMatch {
  /** Higher is better. */
  readonly score: number;
  /** The places of the matched letters, ascending. */
  readonly places: readonly number[];
}

/** Points for a letter that follows the one before, for one that begins a word, and for one at the very beginning. */
const POINTS = { next: 6, word: 5, first: 4, any: 1 };

/** The length of the beginning of a text that is examined, in characters. */
const EXAMINED = 200;

/** The match of a query in a text, ignoring case and spaces; `undefined` when there is none. */
export function fuzzyMatch(query: string, text: string): FuzzyMatch | undefined {
  const needle = query.toLowerCase().replaceAll(/\s+/gu, '');
  const hay = text.slice(0, EXAMINED).toLowerCase();
  const whole = hay.indexOf(query.trim().toLowerCase());
  if (needle !== '' && whole >= 0 && !/\s/u.test(query.trim())) {
    return scored(
      text,
      Array.from({ length: needle.length }, (_, place) => whole + place),
    );
  }
  const places: number[] = [];
  let from = 0;
  for (const letter of needle) {
    const place = nextPlace(hay, letter, from);
    if (place < 0) {
      return undefined;
    }
    places.push(place);
    from = place + letter.length;
  }
  return scored(text, places);
}

/** The next place of a letter: rather at the beginning of a word, if one is close. */
function nextPlace(hay: string, letter: string, from: number): number {
  const first = hay.indexOf(letter, from);
  if (first <= from || isStart(hay, first)) {
    return first;
  }
  for (let place = first; place >= 0 && place < first + 12; place = hay.indexOf(letter, place + 1)) {
    if (isStart(hay, place)) {
      return place;
    }
  }
  return first;
}

function isStart(text: string, place: number): boolean {
  return place === 0 || !/[\p{L}\p{N}]/u.test(text.charAt(place - 1));
}

function scored(text: string, places: readonly number[]): FuzzyMatch {
  const points = places.map((place, index) => {
    const isNext = index > 0 && places[index - 1] === place - 1;
    return isNext
      ? POINTS.next
      : place === 0
        ? POINTS.first + POINTS.word
        : isStart(text, place)
          ? POINTS.word
          : POINTS.any;
  });
  const sum = points.reduce((all, one) => all + one, 0);
  // Of two texts with the same letters the shorter one is meant.
  return { score: sum - Math.min(text.length, EXAMINED) / EXAMINED, places };
}

/** The best matches among items, best first; an empty query takes the first ones. */
export function bestMatches<T>(
  query: string,
  items: readonly T[],
  textOf: (item: T) => string,
  most: number,
): readonly { readonly item: T; readonly match: FuzzyMatch }[] {
  if (query.trim() === '') {
    return items.slice(0, most).map((item) => ({ item, match: { score: 0, places: [] } }));
  }
  const found = items.flatMap((item) => {
    const match = fuzzyMatch(query, textOf(item));
    return match === undefined ? [] : [{ item, match }];
  });
  return found.sort((one, other) => other.match.score - one.match.score).slice(0, most);
}
