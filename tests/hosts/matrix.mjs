// The table of docs/hosts.md: what the tests of the hosts have seen.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const page = join(root, 'docs', 'hosts.md');
const folder = join(root, 'target', 'hosts-seen');

/**
 * The rows of the table by the suite that fills them, in their order.
 *
 * @type {Record<string, string[]>}
 */
export const ROWS = {
  node: [
    ...['Node 20.19', 'Node 22', 'Node 24', 'Node 26'],
    ...['Node 20.19, `serve`', 'Node 22, `serve`', 'Node 24, `serve`', 'Node 26, `serve`'],
  ],
  browsers: [
    'Chromium',
    'Firefox',
    'Chromium, with a content security policy',
    'Firefox, with a content security policy',
    'a host without WebAssembly',
    'esbuild',
    'Vite',
  ],
  next: [
    'Next, Turbopack, Node',
    'Next, webpack, Node',
    'Next, Turbopack, edge',
    'Next, webpack, edge',
    'Next, Turbopack, one service for pages and routes',
    'Next, webpack, one service for pages and routes',
    'Next, in development, one service after a change',
    'Next, Turbopack, `serve`',
    'Next, webpack, `serve`',
  ],
  express: ['Express, `serve`'],
  hono: ['Hono, `serve`, mounted', 'Hono, `serve`, as a route'],
  jest: ['Jest, with Babel', 'Jest, without Babel', 'Jest, ES modules', 'Jest, jsdom'],
  vitest: ['Vitest', 'Vitest, jsdom'],
  'adk-devtools': ["ADK's dev server"],
  bun: ['Bun', 'Bun, `bun:sqlite`', 'Bun, `serve`'],
  deno: ['Deno', 'Deno, `node:sqlite`', 'Deno, `serve`'],
  cloudflare: [
    'Cloudflare Worker',
    'Cloudflare D1',
    'Cloudflare Durable Object',
    'Cloudflare Durable Object, `serve`',
    'Cloudflare Worker over D1, `serve`',
  ],
};

/**
 * The verdict on a host: it works as it is, or with a line in the project, or it does not, which an error says. `line`
 * and `error` are Markdown.
 */
export const works = () => 'works';
/** @param {string} line */
export const worksWith = (line) => `works with ${line}`;
/** @param {string} why */
export const fails = (why) => `fails: ${why}`;

/**
 * Collects what a suite sees.
 *
 * @param {string} suite
 */
export function seenBy(suite) {
  /** @type {Record<string, string>} */
  const seen = {};
  return {
    /**
     * Notes what came of a row.
     *
     * @param {string} row @param {string} verdict
     */
    saw(row, verdict) {
      assert.ok(ROWS[suite].includes(row), `the table has no row ${row}`);
      seen[row] = verdict;
    },
    /** Keeps what was seen for `node scripts/hosts.mjs`; throws when docs/hosts.md says something else. */
    check() {
      assert.deepEqual(Object.keys(seen).sort(), [...ROWS[suite]].sort(), 'rows that nothing was seen of');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${suite}.json`), `${JSON.stringify(seen, undefined, 2)}\n`);
      const told = Object.fromEntries(rowsOf(readFileSync(page, 'utf8')).filter(([row]) => ROWS[suite].includes(row)));
      assert.deepEqual(told, seen, 'docs/hosts.md says something else: node scripts/hosts.mjs writes what was seen');
    },
  };
}

/** The observations of the suites that have run. */
export function allSeen() {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return Object.assign({}, ...files.map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8'))));
}

const TABLE = /^\| host \|.*\n\|.*\n((?:\|.*\n)*)/m;

/**
 * The package of each suite whose version stands in the table.
 *
 * @type {Record<string, string>}
 */
const PACKAGES = {
  express: 'express',
  hono: 'hono',
  next: 'next',
  jest: 'jest',
  vitest: 'vitest',
  'adk-devtools': '@google/adk-devtools',
  bun: 'bun',
  deno: 'deno',
  cloudflare: 'wrangler',
};

/**
 * The version of the host of a row, where the suite that fills it has a lock file for it.
 *
 * @param {string} row
 */
function versionOf(row) {
  const suite = Object.keys(ROWS).find((name) => ROWS[name].includes(row));
  if (suite === undefined || !(suite in PACKAGES)) return '';
  const manifest = readFileSync(new URL(`./${suite}/package.json`, import.meta.url), 'utf8');
  const name = PACKAGES[suite];
  return `${name === 'wrangler' ? 'Wrangler ' : ''}${JSON.parse(manifest).dependencies[name]}`;
}

/**
 * The rows of the table on a page: each host, and what came of it.
 *
 * @param {string} text
 */
export function rowsOf(text) {
  const [, body] = TABLE.exec(text) ?? assert.fail('the page has no table of hosts');
  return [...body.matchAll(/^\| (.*?) \| (?:.*?) ?\| (.*) \|$/gm)].map(([, row, verdict]) => [row, verdict]);
}

/**
 * The page with a table of these rows, where they are known, and else of what it says already.
 *
 * @param {string} text @param {Record<string, string>} seen
 */
export function withTable(text, seen) {
  const told = Object.fromEntries(rowsOf(text));
  const lines = Object.values(ROWS)
    .flat()
    .map((row) => `| ${row} | ${versionOf(row)} | ${seen[row] ?? told[row] ?? 'not seen yet'} |\n`);
  return text.replace(TABLE, `| host | version | |\n|---|---|---|\n${lines.join('')}`);
}
