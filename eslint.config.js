// What eslint holds the sources to: typescript-eslint's strict, type-checked rules for TypeScript, eslint's own for
// scripts.

import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import { configs } from 'typescript-eslint';

/** What a plain script finds on every host of the project; TypeScript knows by itself. */
const globals = Object.fromEntries(
  [
    'AbortController',
    'AbortSignal',
    'Buffer',
    'DOMException',
    'Headers',
    'ReadableStream',
    'Request',
    'Response',
    'TextDecoder',
    'TextEncoder',
    'URL',
    'WebAssembly',
    'clearTimeout',
    'console',
    'DataTransfer',
    'File',
    'crypto',
    'document',
    'fetch',
    'getComputedStyle',
    'globalThis',
    'navigator',
    'performance',
    'process',
    'queueMicrotask',
    'setImmediate',
    'setTimeout',
    'structuredClone',
    'window',
  ].map((name) => [name, 'readonly']),
);

export default defineConfig(
  globalIgnores([
    'target/',
    'www/dist/',
    'src/wasm/service/types.d.ts',
    'pkg/dist/',
    'pkg/wasm/',
    'tests/packaging/fixtures/',
  ]),
  {
    files: ['**/*.{js,mjs}'],
    extends: [js.configs.recommended],
    languageOptions: { globals },
  },
  {
    // It runs in a service worker.
    files: ['www/public/offline.js'],
    languageOptions: { globals: { caches: 'readonly', self: 'readonly' } },
  },
  {
    files: ['**/*.{ts,mts}'],
    extends: [configs.strictTypeChecked, configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // A number in a message reads well as it is.
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // Keys are data here: they are read as such, and deleted.
      '@typescript-eslint/dot-notation': ['error', { allowIndexSignaturePropertyAccess: true }],
      '@typescript-eslint/no-dynamic-delete': 'off',
      // The strict rules forbid the `!` that this one asks for.
      '@typescript-eslint/non-nullable-type-assertion-style': 'off',
      // A callback may answer nothing.
      '@typescript-eslint/no-invalid-void-type': 'off',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // A method that must be asynchronous for its callers may have nothing to wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['**/*.{js,mjs,ts,mts}'],
    rules: {
      eqeqeq: ['error', 'always'],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'export it under its name' },
        { selector: 'TSAsExpression > TSAnyKeyword', message: 'say what it is' },
      ],
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  {
    // Prettier breaks code; what it leaves is broken by hand: comments, and conditions of types. What is long because
    // it is one text stays whole: titles of tests, messages, SQL in a template, an address.
    files: ['**/*.{js,mjs,ts,mts}'],
    rules: {
      'max-len': [
        'error',
        { code: 119, ignoreUrls: true, ignoreStrings: true, ignoreTemplateLiterals: true, ignoreRegExpLiterals: true },
      ],
    },
  },
  {
    // One file, one idea: one that is longer has a second.
    files: ['pkg/src/**'],
    rules: { 'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }] },
  },
  {
    // The package runs on every host: what only Node has is imported, and only by Node's loader.
    files: ['pkg/src/**'],
    rules: {
      'no-restricted-globals': ['error', 'Buffer', 'process', 'global', 'setImmediate', '__dirname', 'require'],
    },
  },
  {
    // Their readers want a default export.
    files: ['eslint.config.js', '**/*.d.ts', '**/worker.mjs'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
