// Arrays as Postgres reads them: texts, so that any client can send them.

/** An array of texts; null where there is none. */
export function arrayOf(texts: readonly (string | null)[]): string {
  return `{${texts.map((text) => (text === null ? 'NULL' : quoted(text))).join()}}`;
}

/** An array of numbers or booleans. */
export function plainArrayOf(items: readonly (number | boolean | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : String(item))).join()}}`;
}

/** A text as it is written in an array. */
function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text}"`;
}
