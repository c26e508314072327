// The filters of lists: comparisons, all of which must be true.

import { invalidFields } from './errors.js';

/** One comparison of a filter. */
export interface Comparison {
  /** The compared field, without its last part when that is quoted: `user_id`, `labels.color`. */
  readonly path: string;
  readonly operator: string;
  readonly value: string;
}

const QUOTED = `"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'`;
const COMPARISON = new RegExp(
  `\\s*([A-Za-z_]\\w*(?:\\.(?:[\\w-]+|${QUOTED}))?)\\s*(>=|<=|!=|=|>|<)\\s*(${QUOTED}|[\\w.:+-]+)\\s*`,
  'ysu',
);
const AND = /AND(?=\s)/y;

/** Reads a filter. One that is empty compares nothing. */
export function readFilter(text: string): readonly Comparison[] {
  const found: Comparison[] = [];
  let at = 0;
  while (text.trim() !== '') {
    COMPARISON.lastIndex = at;
    const [whole, path = '', operator = '', value = ''] = COMPARISON.exec(text) ?? [];
    if (whole === undefined) {
      throw refusedFilter();
    }
    found.push({ path: unquotedPath(path), operator, value: unquoted(value) });
    at += whole.length;
    if (at === text.length) {
      break;
    }
    AND.lastIndex = at;
    if (!AND.test(text)) {
      throw refusedFilter();
    }
    at = AND.lastIndex;
  }
  return found;
}

/** The answer for a filter that cannot be parsed, or compares fields that cannot be compared. */
export function refusedFilter(): Error {
  return invalidFields(['filter', 'Invalid filter.']);
}

function unquotedPath(path: string): string {
  const dot = path.indexOf('.');
  return dot < 0 ? path : `${path.slice(0, dot)}.${unquoted(path.slice(dot + 1))}`;
}

function unquoted(text: string): string {
  return /^["']/.test(text) ? text.slice(1, -1).replace(/\\(.)/gsu, '$1') : text;
}
