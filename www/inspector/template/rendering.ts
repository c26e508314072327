// A template in pieces: its source, and what it renders to, each with its placeholders told from the text around them.

import { isStatepadError, Template, type Missing, type Placeholder, type RenderOptions } from 'statepad';
import { splitKey, type Scope } from '../model/log.js';

/** A placeholder, where it stands in the source. */
export interface Spot {
  /** As it is written, from brace to brace: `{user:profile.city?}`. */
  readonly source: string;
  /** All that is looked up: `user:profile.city`, `artifact.file.txt`. */
  readonly key: string;
  readonly scope: Scope | 'artifact';
  readonly optional: boolean;
  /** The line of its brace, from 1. */
  readonly line: number;
  /** The column of its brace, in characters (code points), from 1. */
  readonly column: number;
  /** Where its source begins in the text, in UTF-16 units, as in `text.slice(start)`. */
  readonly start: number;
  /** It is required, and there is nothing for it. */
  readonly missing: boolean;
  /** It is a `temp:` key, and what that was is not known: it is not stored. */
  readonly unstored: boolean;
  /** The most similar key, when it is missing. */
  readonly nearest: string | undefined;
}

/**
 * Text as it stands; or a placeholder and what stands for it: its source, its value, or its source again when it is
 * missing.
 */
export interface Piece {
  readonly text: string;
  readonly spot: Spot | undefined;
}

/** What {@link dissect} finds. */
export interface Dissection {
  /** The template: the texts of all pieces together are the text that was compiled. */
  readonly source: readonly Piece[];
  /** What it renders to; what is missing stands there as it is written. */
  readonly rendered: readonly Piece[];
  /** The error that rendering ends with, if it does; what is not known is no error. */
  readonly error: { readonly code: string; readonly missing: readonly Missing[] } | undefined;
}

/**
 * Cuts a template and what it renders to into pieces. An artifact without a resolver is missing. Unless `knowsTemp`,
 * nothing can be told of `temp:` keys: they are not stored.
 */
export function dissect(template: Template, options: RenderOptions, knowsTemp = true): Dissection {
  const isUnstored = (key: string): boolean => !knowsTemp && splitKey(key).scope === 'temp';
  const error = known(errorOf(template, options), isUnstored);
  const nearest = new Map(error?.missing.map((missing) => [missing.key, missing.nearest]));
  const starts = startsOf(template);
  const spots = template.placeholders.map((placeholder, index): Spot => {
    const { kind, optional, line, column } = placeholder;
    const start = starts[index] as number;
    const source = template.text.slice(start, template.text.indexOf('}', start) + 1);
    const key = contentOf(source);
    const scope = kind === 'artifact' ? 'artifact' : splitKey(placeholder.key).scope;
    const unstored = isUnstored(placeholder.key);
    const missing = !optional && nearest.has(key);
    return {
      source,
      key,
      scope,
      optional,
      line,
      column,
      start,
      missing,
      unstored,
      nearest: missing ? nearest.get(key) : undefined,
    };
  });
  return {
    source: interleave(literalsOfSource(template.text, spots), spots, ({ source }) => source),
    rendered: interleave(literalsAsRendered(template, spots), spots, (spot) =>
      spot.missing || (spot.unstored && !spot.optional) ? spot.source : valueOf(spot, options),
    ),
    error,
  };
}

/** An error without the keys of which nothing can be told. */
function known(error: Dissection['error'], isUnstored: (key: string) => boolean): Dissection['error'] {
  const missing = error?.missing.filter(({ key }) => !isUnstored(key)) ?? [];
  return error === undefined || missing.length === 0 ? undefined : { code: error.code, missing };
}

function errorOf(template: Template, options: RenderOptions): Dissection['error'] {
  try {
    template.render(options);
    return undefined;
  } catch (error) {
    if (isStatepadError(error) && error.missing !== undefined) {
      return { code: error.code, missing: error.missing };
    }
    throw error;
  }
}

/** Where the placeholders begin. They are in the order of the text, so that all of them together cost one pass. */
function startsOf({ text, placeholders }: Template): number[] {
  let [at, line, column] = [0, 1, 1];
  return placeholders.map((placeholder: Placeholder) => {
    while (line < placeholder.line) {
      at = text.indexOf('\n', at) + 1;
      line += 1;
      column = 1;
    }
    for (; column < placeholder.column; column += 1) {
      at += (text.codePointAt(at) as number) > 0xffff ? 2 : 1;
    }
    return at;
  });
}

/**
 * What stands between the braces, without the blanks at both ends and without the `?`: what the core calls blanks,
 * `trim` does not.
 */
function contentOf(source: string): string {
  return source
    .slice(1, -1)
    .replaceAll(/^\p{White_Space}+|\p{White_Space}+$/gu, '')
    .replace(/\?$/u, '');
}

function literalsOfSource(text: string, spots: readonly Spot[]): string[] {
  const ends = [0, ...spots.map(({ start, source }) => start + source.length)];
  return ends.map((end, index) => text.slice(end, spots[index]?.start));
}

/**
 * What escapes leave of the text is known by rendering alone: with a mark for each value, the text is what lies
 * between the marks.
 */
function literalsAsRendered(template: Template, spots: readonly Spot[]): string[] {
  const mark = markFor(template.text);
  const state = Object.create(null) as Record<string, string>;
  for (const { key } of spots) {
    state[key] = mark;
  }
  return template.render({ state, artifact: () => mark }).split(mark);
}

/**
 * A text of private-use characters that does not occur, whatever stands beside it: longer than any run of its first
 * character.
 */
function markFor(text: string): string {
  const runs = text.match(/\uE000+/gu) ?? [];
  const longest = runs.reduce((length, run) => Math.max(length, run.length), 0);
  return `${'\uE000'.repeat(longest + 1)}\uE001`;
}

function valueOf({ source }: Spot, options: RenderOptions): string {
  return new Template(source).render(options);
}

function interleave(literals: readonly string[], spots: readonly Spot[], textOf: (spot: Spot) => string): Piece[] {
  const pieces = literals.flatMap((text, index): Piece[] => {
    const spot = spots[index];
    return [{ text, spot: undefined }, ...(spot === undefined ? [] : [{ text: textOf(spot), spot }])];
  });
  return pieces.filter(({ text, spot }) => text !== '' || spot !== undefined);
}
