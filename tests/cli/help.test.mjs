// The output of the program without a command, and the files that it loads for that.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runs } from './process.mjs';

const folder = mkdtempSync(join(tmpdir(), 'statepad-help-'));
after(() => rmSync(folder, { recursive: true }));

/** The files of the package that a run loads, as V8 reports them with its coverage, and the end of the run. */
async function loadedBy(args) {
  const reports = mkdtempSync(join(folder, 'run-'));
  const end = await runs(args, { env: { NODE_V8_COVERAGE: reports } });
  const scripts = readdirSync(reports).flatMap((name) => JSON.parse(readFileSync(join(reports, name), 'utf8')).result);
  const urls = scripts.map(({ url }) => url).filter((url) => url.startsWith('file:'));
  return { ...end, files: urls.map((url) => url.replace(/^.*\/dist\//, '')).sort() };
}

const OWN = ['chunks/cli.js', 'cli.js'];

/** Arguments without a command that runs: the code of the end, and what is printed where. */
const WITHOUT_COMMAND = [
  [['--help'], 0, /^Usage: statepad COMMAND\n[^]*\n {2}serve {2}/, /^$/],
  [['-h'], 0, /^Usage: statepad COMMAND\n/, /^$/],
  [['serve', '--help'], 0, /^Usage: statepad serve ADDRESS \[options\]\n/, /^$/],
  [['serve', 'sessions.db', '-h'], 0, /^Usage: statepad serve ADDRESS \[options\]\n/, /^$/],
  [['--version'], 0, /^(\d+\.\d+\.\d+|unreleased)\n$/, /^$/],
  [['-v'], 0, /^(\d+\.\d+\.\d+|unreleased)\n$/, /^$/],
  [[], 2, /^$/, /^Usage: statepad COMMAND\n/],
  [
    ['sevre'],
    2,
    /^$/,
    /^statepad: there is no such command; there are: [a-z]+(, [a-z]+)+\nstatepad --help shows how\n$/,
  ],
  [['show', '-h'], 0, /^Usage: statepad show ADDRESS \[APP \[USER \[SESSION\]\]\] \[options\]\n/, /^$/],
  [['show'], 2, /^$/, /^statepad show: ADDRESS is missing\n/],
  [['export', '-h'], 0, /^Usage: statepad export ADDRESS \[options\]\n/, /^$/],
  [['import', 'a.db'], 2, /^$/, /^statepad import: TO is missing\n/],
  [['render', '-h'], 0, /^Usage: statepad render TEMPLATE ADDRESS APP USER SESSION \[options\]\n/, /^$/],
  [['verify', '-h'], 0, /^Usage: statepad verify ADDRESS \[options\]\n/, /^$/],
  [['serve'], 2, /^$/, /^statepad serve: ADDRESS is missing\nstatepad serve --help shows how\n$/],
  [['serve', 'x.db', '--prot=1'], 2, /^$/, /^statepad serve: there is no option --prot\n/],
];

describe('the program', () => {
  for (const [args, code, out, err] of WITHOUT_COMMAND) {
    it(`answers ${['statepad', ...args].join(' ')}, and loads nothing for that`, async () => {
      const end = await loadedBy(args);
      assert.match(end.out, out);
      assert.match(end.err, err);
      assert.deepEqual([end.code, end.files], [code, OWN]);
    });
  }

  it('loads a command to run it, and of the stores the one that it opens', async () => {
    const { code, err, files } = await loadedBy(['serve', 'journal:/nowhere/at/all']);
    assert.deepEqual([code, /cannot be opened/.test(err)], [1, true], err);
    assert.ok(files.includes('chunks/cli-serve.js') && files.includes('stores/journal/index.js'), files.join());
    // Encryption is looked for in every store.
    assert.deepEqual(
      files.filter((file) => /^stores\/(?!journal|encrypted)/.test(file)),
      [],
    );
  });
});
