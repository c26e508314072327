// The printing of the published scripts.

/**
 * For esbuild: without comments and blanks, and in short lines. Node prints the line of an uncaught error before its
 * message: a script in one line would bury the message under all of its code.
 *
 * @type {import('esbuild').TransformOptions}
 */
export const printing = {
  target: 'es2022',
  format: 'esm',
  charset: 'utf8',
  legalComments: 'none',
  minifyWhitespace: true,
  lineLimit: 200,
};
