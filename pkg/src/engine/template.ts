// Compiling and escaping: the core finds the placeholders, and its lists of numbers become segments and texts here.

import { escape_template, parse_template } from './wasm.js';
import { withRoom } from './keys.js';
import { answerOf, writeText } from './transfer-buffers.js';
import { countOf } from './answer-count.js';

/** A placeholder with all that rendering needs. */
export interface CompiledPlaceholder {
  readonly kind: 'state' | 'artifact';
  /** The text between the blanks and the `?`: `user:profile.city`, `artifact.file.txt`. */
  readonly content: string;
  /** The key at the start of a path (`user:profile`), or the artifact's name. */
  readonly key: string;
  readonly path: readonly (string | number)[];
  readonly optional: boolean;
  /** The index of its brace in the text. */
  readonly start: number;
}

/** Literal text, or a placeholder. */
export type Segment = string | CompiledPlaceholder;

const LITERAL = 0;
const ARTIFACT = 2;
const OPTIONAL = 4;

/** Compiles a text. `parse_template` in the core's binding explains the numbers. */
export function compile(text: string): readonly Segment[] {
  const flat = numbersOf(() => parse_template(writeText(text)));
  const segments: Segment[] = [];
  let at = 0;
  const next = () => flat[at++] as number;
  while (at < flat.length) {
    const code = next();
    segments.push(code === LITERAL ? text.slice(next(), next()) : placeholder(code, text, next));
  }
  return segments;
}

/**
 * Inserts the backslashes that the core asks for. The text itself stays here: it may have lone surrogates, which UTF-8
 * lacks.
 */
export function escape(text: string): string {
  const flat = numbersOf(() => escape_template(writeText(text)));
  let escaped = '';
  let start = 0;
  for (let at = 0; at < flat.length; at += 2) {
    const place = flat[at] as number;
    escaped += text.slice(start, place) + '\\'.repeat(flat[at + 1] as number);
    start = place;
  }
  return escaped + text.slice(start);
}

/** The numbers of an answer. They have to be read before the next call. */
function numbersOf(call: () => number): Uint32Array {
  const count = withRoom(() => countOf(call()));
  return answerOf(count).subarray(0, count);
}

function placeholder(code: number, text: string, next: () => number): CompiledPlaceholder {
  const keyStart = next();
  const contentStart = next();
  const contentEnd = next();
  const rootEnd = next();
  const steps = next();
  const isArtifact = (code & ARTIFACT) !== 0;
  return {
    kind: isArtifact ? 'artifact' : 'state',
    content: text.slice(contentStart, contentEnd),
    key: text.slice(keyStart, isArtifact ? contentEnd : rootEnd),
    path: steps === 0 ? NO_PATH : Array.from({ length: steps }, () => step(text, next)),
    optional: (code & OPTIONAL) !== 0,
    // Only blanks are between the brace and the content.
    start: text.lastIndexOf('{', contentStart),
  };
}

const NO_PATH: readonly never[] = [];

function step(text: string, next: () => number): string | number {
  const isIndex = next() === 1;
  const name = text.slice(next(), next());
  return isIndex ? Number(name) : name;
}
