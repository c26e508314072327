// Imports of .sql files in the package: each is its text.

/**
 * An SQL script without comments, indentation and empty lines. Quoted texts stay as they are.
 *
 * @param {string} script
 */
export function compactSql(script) {
  /** @param {string} part */
  const squeezed = (part) => (part.startsWith("'") ? part : part.includes('\n') ? '\n' : ' ');
  return script.replace(/'(?:[^']|'')*'|(?:\s|--.*)+/g, squeezed).trim();
}

/** The plugin for Vite. */
export const sqlFiles = {
  name: 'sql files',
  transform: (/** @type {string} */ script, /** @type {string} */ file) =>
    file.endsWith('.sql')
      ? { code: `export default ${JSON.stringify(compactSql(script))};`, map: { mappings: '' } }
      : undefined,
};
