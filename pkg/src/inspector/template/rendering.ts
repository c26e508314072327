// A template in pieces: its source and its rendering, with placeholders separated from the text around them.

import { isStatepadError, Template, type Missing, type Placeholder, type RenderOptions } from '../../index.js';
import { splitKey, type Scope } from '../model/log.js';

/** A placeholder in the source. */
export interface Spot {
  /** Its source, from brace to brace: `{user:profile.city?}`. */
  readonly source: string;
  /** The whole key: `user:profile.city`, `artifact.file.txt`. */
  readonly key: string;
  /** The key of the state that it takes its value from, `user:profile`; or the name of an artifact. */
  readonly of: string;
  /** The path into the value of that key; empty for all of it. */
  readonly path: readonly (string | number)[];
  readonly scope: Scope | 'artifact';
  readonly optional: boolean;
  /** The line of its brace, from 1. */
  readonly line: number;
  /** The column of its brace, in characters (code points), from 1. */
  readonly column: number;
  /** The index of its source in the text, in UTF-16 units, as in `text.slice(start)`. */
  readonly start: number;
  /** True when it is required, and has no value. */
  readonly missing: boolean;
  /** True for an unknown value: a `temp:` key is not stored, and an artifact is no state. */
  readonly unknown: boolean;
  /** The most similar key, when it is missing. */
  readonly nearest: string | undefined;
}

/** Literal text; or a placeholder with its source, its value, or its source again when it is missing or unknown. */
export interface Piece {
  readonly text: string;
  readonly spot: Spot | undefined;
}

/** The result of {@link dissect}. */
export interface Dissection {
  /** The template: the texts of all pieces together are the compiled text. */
  readonly source: readonly Piece[];
  /** The rendering; missing and unknown placeholders appear as their source. */
  readonly rendered: readonly Piece[];
  /** The error of the rendering, if any; unknown values are no error. */
  readonly error: { readonly code: string; readonly missing: readonly Missing[] } | undefined;
}

/** Knowledge beside the stored state. */
export interface Known {
  readonly temp: boolean;
  readonly artifacts: boolean;
  /** The key that a missing one resembles; by default among those of the state. */
  readonly nearest?: ((missing: string) => string | undefined) | undefined;
}

/**
 * Cuts a template and its rendering into pieces. An artifact without a resolver is missing. What is not known is no
 * error.
 */
export function dissect(
  template: Template,
  options: RenderOptions,
  { temp = true, artifacts = true, nearest: nearestOf }: Partial<Known> = {},
): Dissection {
  const isUnknown = (key: string): boolean =>
    (!temp && splitKey(key).scope === 'temp') || (!artifacts && key.startsWith('artifact.'));
  const error = known(errorOf(template, options), isUnknown, nearestOf);
  const nearest = new Map(error?.missing.map((missing) => [missing.key, missing.nearest]));
  const starts = startsOf(template);
  const spots = template.placeholders.map((placeholder, index): Spot => {
    const { kind, optional, line, column, key: of, path } = placeholder;
    const start = starts[index] as number;
    const source = template.text.slice(start, template.text.indexOf('}', start) + 1);
    const key = contentOf(source);
    const scope = kind === 'artifact' ? 'artifact' : splitKey(of).scope;
    const unknown = kind === 'artifact' ? !artifacts : !temp && scope === 'temp';
    const missing = !optional && nearest.has(key);
    return {
      source,
      key,
      of,
      path,
      scope,
      optional,
      line,
      column,
      start,
      missing,
      unknown,
      nearest: missing ? nearest.get(key) : undefined,
    };
  });
  return {
    source: interleave(literalsOfSource(template.text, spots), spots, ({ source }) => source),
    rendered: interleave(literalsAsRendered(template, spots), spots, (spot) =>
      spot.missing || spot.unknown ? spot.source : valueOf(spot, options),
    ),
    error,
  };
}

/** An error without the keys of unknown values. */
function known(
  error: Dissection['error'],
  isUnknown: (key: string) => boolean,
  nearestOf: Known['nearest'],
): Dissection['error'] {
  const missing = error?.missing.filter(({ key }) => !isUnknown(key)) ?? [];
  if (error === undefined || missing.length === 0) {
    return undefined;
  }
  const named = missing.map(({ key, line, column, nearest }): Missing => {
    const found = nearestOf === undefined ? nearest : nearestOf(key);
    return { key, line, column, ...(found === undefined ? {} : { nearest: found }) };
  });
  return { code: error.code, missing: named };
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

/** The indexes of the placeholders. They are in the order of the text, so that all of them together cost one pass. */
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
 * The text between the braces, without the blanks at both ends and without the `?`: the core's blanks differ from
 * those of `trim`.
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
 * Only rendering shows the effect of escapes on the text: with a mark for each value, the text is what lies between
 * the marks.
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
 * A text of private-use characters that does not occur, in any surroundings: longer than any run of its first
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
