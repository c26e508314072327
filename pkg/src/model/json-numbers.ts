// Numbers of JSON texts that JavaScript cannot hold: JSON.parse rounds them silently.
//
// 2^53 + 1 (9007199254740993) is a common key of databases, and becomes 9007199254740992. A number is lost when
// reading and writing it gives another number. Doubles written by the rules of JavaScript, Python and others survive:
// 0.1, 1e300, and 1e300 in 301 digits, as JSONB of Postgres writes it.

/** A number that JavaScript cannot hold. */
export interface LostNumber {
  /** Its digits in the text. */
  readonly token: string;
  /** Its path in the value: names of members and indexes of lists, from the outside in. */
  readonly path: readonly (string | number)[];
}

/** A double keeps 15 digits of any number. */
const KEPT_DIGITS = 15;
/** Matches every text with a number that is lost, and few others, so that most texts cost no more than this search. */
const MAY_BE_LOST = /[\d.]{16}|\d[eE][-+]?\d{3}/;

/** The first number of a JSON text that JavaScript cannot hold; `undefined` when it can hold all of them. */
export function lostNumber(json: string): LostNumber | undefined {
  const [match] = lostTokens(json);
  return match && { token: match.token, path: pathOf(json, match.at) };
}

/** The words of messages: `the number 9007199254740993 at items[3].id, which JavaScript cannot represent`. */
export function lostTitle({ token, path }: LostNumber): string {
  const steps = path.map((step) =>
    typeof step === 'number'
      ? `[${step}]`
      : /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(step)
        ? `.${step}`
        : `[${JSON.stringify(step)}]`,
  );
  const at = steps.length === 0 ? '' : ` at ${steps.join('').replace(/^\./, '')}`;
  return `the number ${shortened(token)}${at}, which JavaScript cannot represent`;
}

/** An integer of a JSON text as a `bigint`; `undefined` for a fraction, or for more than 10,000 digits. */
export function bigintOf(token: string): bigint | undefined {
  return /^-?\d{1,10000}$/.test(token) ? BigInt(token) : undefined;
}

function shortened(token: string): string {
  return token.length <= 100 ? token : `${token.slice(0, 40)}… (${token.length} characters)`;
}

/**
 * The value of a JSON text, with `convert` in the places of numbers that JavaScript cannot hold. Throws the errors of
 * `JSON.parse` and `convert`.
 */
export function parseWith(json: string, convert: (token: string) => unknown): unknown {
  const marked = markTokens(json);
  return marked === undefined ? JSON.parse(json) : unmarked(marked, convert);
}

/** A changed JSON text whose numbers keep their digits, even those that JavaScript cannot hold. */
export function changeJson(json: string, change: (value: unknown) => unknown): string {
  const marked = markTokens(json);
  if (marked === undefined) {
    return JSON.stringify(change(JSON.parse(json)));
  }
  // Until then, a text that cannot occur in the value stands for each of them.
  const { text, mark } = marked;
  return withoutMarks(JSON.stringify(change(JSON.parse(text))), mark);
}

/** A value as JSON, with every `bigint` as its digits. Otherwise throws as `JSON.stringify`. */
export function jsonWithBigints(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // The value has a bigint, or cannot be written at all.
    const mark = newMark();
    const json = JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `${mark}${item}` : item));
    return withoutMarks(json, mark);
  }
}

/** A number as the text has it, and its index in the text. */
interface Token {
  readonly token: string;
  readonly at: number;
}

function* lostTokens(json: string): Generator<Token, void, undefined> {
  if (!MAY_BE_LOST.test(json)) {
    return;
  }
  const next = /["\d-]/g;
  const number = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;
  for (let match = next.exec(json); match !== null; match = next.exec(json)) {
    const at = match.index;
    if (match[0] === '"') {
      next.lastIndex = endOfText(json, at);
      continue;
    }
    number.lastIndex = at;
    const [token] = number.exec(json) ?? [match[0]];
    next.lastIndex = at + token.length;
    if (isLost(token)) {
      yield { token, at };
    }
  }
}

/** The index behind the string that begins at a quote. */
function endOfText(json: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = json.indexOf('"', at);
    if (at < 0) {
      return json.length;
    }
    let escapes = 0;
    while (json[at - 1 - escapes] === '\\') {
      escapes += 1;
    }
    if (escapes % 2 === 0) {
      return at + 1;
    }
  }
}

/** True when reading and writing a number gives another one. */
function isLost(token: string): boolean {
  if (token.length <= KEPT_DIGITS && !/[eE]/.test(token)) {
    return false;
  }
  const value = Number(token);
  const [digits, exponent] = decimalOf(token);
  const [digitsOfDouble, exponentOfDouble] = decimalOf(String(value));
  return !Number.isFinite(value) || digits !== digitsOfDouble || exponent !== exponentOfDouble;
}

/** A number as its digits, without zeros at either end, and the power of ten of the last of them. */
function decimalOf(token: string): readonly [digits: string, exponent: number] {
  const [, whole = '', fraction = '', power = '0'] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(token) ?? [];
  const all = whole + fraction;
  let [start, end] = [0, all.length];
  while (start < end && all[start] === '0') {
    start += 1;
  }
  while (end > start && all[end - 1] === '0') {
    end -= 1;
  }
  return start === end ? ['', 0] : [all.slice(start, end), Number(power) - fraction.length + (all.length - end)];
}

/** A JSON text in which texts that begin with `mark` stand in the places of numbers that are lost. */
interface Marked {
  readonly text: string;
  readonly mark: string;
}

function markTokens(json: string): Marked | undefined {
  const mark = newMark();
  let [text, end] = ['', 0];
  for (const { token, at } of lostTokens(json)) {
    text += `${json.slice(end, at)}"${mark}${token}"`;
    end = at + token.length;
  }
  return end === 0 ? undefined : { text: text + json.slice(end), mark };
}

/** A text that no string in the value begins with. */
function newMark(): string {
  return `number-${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}:`;
}

function unmarked({ text, mark }: Marked, convert: (token: string) => unknown): unknown {
  return JSON.parse(text, (_, item: unknown) =>
    typeof item === 'string' && item.startsWith(mark) ? convert(item.slice(mark.length)) : item,
  );
}

function withoutMarks(json: string, mark: string): string {
  return json.replace(new RegExp(`"${mark}(-?[\\d.eE+-]+)"`, 'g'), '$1');
}

/** The path of members and indexes to an index in a JSON text. */
function pathOf(json: string, place: number): readonly (string | number)[] {
  const path: (string | number)[] = [];
  const next = /["[\]{},]/g;
  const colon = /\s*:/y;
  for (let match = next.exec(json); match !== null && match.index < place; match = next.exec(json)) {
    const at = match.index;
    const last = path.length - 1;
    const step = path[last];
    if (match[0] === '"') {
      next.lastIndex = endOfText(json, at);
      colon.lastIndex = next.lastIndex;
      if (typeof step === 'string' && colon.test(json)) {
        path[last] = JSON.parse(json.slice(at, next.lastIndex)) as string;
      }
    } else if (match[0] === '[') {
      path.push(0);
    } else if (match[0] === '{') {
      path.push('');
    } else if (match[0] === ',') {
      path[last] = typeof step === 'number' ? step + 1 : '';
    } else {
      path.pop();
    }
  }
  return path;
}
