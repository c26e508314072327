// Parses typed JSON, with the place of and the reason for a fault.

import { parse, printParseErrorCode, type ParseError } from 'jsonc-parser';
import type { Json } from '../../index.js';

/**
 * The result of {@link readJson}: a value, or a fault. Lines and columns are counted from 1, `at` from 0 in UTF-16
 * units.
 */
export type Verdict =
  | { readonly value: Json; readonly reason?: never }
  | { readonly reason: string; readonly at: number; readonly line: number; readonly column: number };

/** Reads a text as JSON. Engines describe faults in their own words, some of them without a place. */
export function readJson(text: string): Verdict {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    const faults: ParseError[] = [];
    parse(text, faults, { disallowComments: true });
    const [fault] = faults;
    const at = fault?.offset ?? 0;
    const before = text.slice(0, at).split('\n');
    return {
      reason: reasonOf(text, fault),
      at,
      line: before.length,
      column: Array.from(before.at(-1) ?? '').length + 1,
    };
  }
}

const REASONS: Readonly<Record<string, string>> = {
  InvalidSymbol: 'this is neither a value nor a "name"',
  InvalidNumberFormat: 'this is no number',
  PropertyNameExpected: 'a "name" should be here',
  ValueExpected: 'a value should be here',
  ColonExpected: ': should be here',
  CommaExpected: 'a comma should be here',
  CloseBraceExpected: '} is missing',
  CloseBracketExpected: '] is missing',
  EndOfFileExpected: 'the value has ended before this',
  InvalidCommentToken: 'JSON has no comments',
  UnexpectedEndOfComment: 'JSON has no comments',
  UnexpectedEndOfString: 'a text is not closed: " is missing',
  UnexpectedEndOfNumber: 'a digit is missing',
  InvalidUnicode: 'four digits should follow \\u',
  InvalidEscapeCharacter: 'this is no escape in a text',
  InvalidCharacter: 'a text cannot have this character as it is',
};

function reasonOf(text: string, fault: ParseError | undefined): string {
  if (text.trim() === '') {
    return 'a value is needed';
  }
  return (fault && REASONS[printParseErrorCode(fault.error)]) ?? 'this is no JSON';
}
