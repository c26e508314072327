// Descriptions of files that cannot be opened.

/** The formats that can be opened, as a sentence. */
export const ACCEPTED =
  'What can be opened: JSON lines written by statepad (the Download button here), a session as ADK saves it ' +
  '(adk run --save_session, or the JSON of its API), a list of such sessions, or a list of events, ' +
  'in camelCase or snake_case.';

/** The first bytes of files that are no text. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['53514c69746520666f726d6174203300', 'an SQLite database; export its sessions as JSON first'],
  ['1f8b', 'a gzip archive; unpack it first'],
  ['504b0304', 'a zip archive; unpack it first'],
  ['89504e47', 'a PNG picture'],
  ['ffd8ff', 'a JPEG picture'],
  ['25504446', 'a PDF document'],
  ['fffe', 'text in UTF-16; save it as UTF-8 first'],
  ['feff', 'text in UTF-16; save it as UTF-8 first'],
];

/** A description of bytes that are not UTF-8. */
export function describeBytes(bytes: Uint8Array): string {
  const hex = [...bytes.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return MAGIC.find(([magic]) => hex.startsWith(magic))?.[1] ?? 'a binary file';
}

/** A description of bytes that may be text in the wrong encoding, or no text; `undefined` for possible UTF-8. */
export function magicFormat(bytes: Uint8Array): string | undefined {
  const kind = describeBytes(bytes);
  return kind === 'a binary file' ? undefined : kind;
}

/** A description of a text that is no JSON. */
export function describeText(text: string): string {
  const start = text.trimStart().slice(0, 200);
  if (start === '') {
    return 'an empty file';
  }
  if (/^<(?:!doctype|html|\?xml|svg)/iu.test(start)) {
    return /xml|svg/iu.test(start.slice(0, 10)) ? 'XML' : 'a web page';
  }
  if (/^[{[]/u.test(start)) {
    return 'JSON that is broken or cut off';
  }
  if (/^(?:---|[\w-]+:\s)/u.test(start)) {
    return 'YAML';
  }
  const [first = ''] = start.split('\n');
  return first.split(',').length > 2 ? 'a table of comma-separated values' : 'plain text';
}

/** A description of a JSON value without sessions. */
export function describeJson(value: unknown): string {
  if (Array.isArray(value)) {
    const [first] = value as unknown[];
    return value.length === 0 ? 'an empty JSON list' : `a JSON list whose first element is ${describeJson(first)}`;
  }
  if (typeof value !== 'object' || value === null) {
    return `a JSON ${value === null ? 'null' : typeof value}`;
  }
  const names = Object.keys(value);
  if (names.includes('eval_cases') || names.includes('evalCases')) {
    return 'an ADK eval set, which has test cases and no sessions';
  }
  if (names.includes('resourceSpans')) {
    return 'an OpenTelemetry trace';
  }
  if (names.length === 0) {
    return 'an empty JSON object';
  }
  const shown = names.slice(0, 5).map((name) => JSON.stringify(name.slice(0, 40)));
  return `a JSON object with ${shown.join(', ')}${names.length > 5 ? ` and ${names.length - 5} more members` : ''}`;
}
