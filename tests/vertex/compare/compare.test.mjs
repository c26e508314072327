// The requests of statepad to Agent Engine beside those of ADK's session services: the differences are those of
// differences.json, each with its reason, and no others.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { against, differencesOf } from './differences.mjs';
import { adkJs, record, statepad, steps } from './record.mjs';

const here = (name) => new URL(name, import.meta.url);
const read = (name) => JSON.parse(readFileSync(here(name), 'utf8'));
const listed = read('differences.json');

/** Recordings that were made elsewhere, by the name of who made them. */
const kept = existsSync(here('recordings'))
  ? readdirSync(here('recordings')).map((name) => [name.replace(/\.json$/, ''), () => read(`recordings/${name}`)])
  : [];

const ours = await record(statepad);

for (const [name, recorded] of [['adk-js', () => record(adkJs)], ...kept]) {
  test(`what statepad and ${name} ask differs as it is listed, and in nothing else`, async () => {
    const { unlisted, idle } = against(differencesOf(await recorded(), ours), listed[name]);
    assert.deepEqual(unlisted, [], 'these are not listed');
    assert.deepEqual(idle, [], 'these are listed, and do not differ');
  });
}

test('every step asks something, and every line has a reason', () => {
  assert.deepEqual(
    Object.keys(ours),
    steps.map(({ name }) => name),
  );
  assert.ok(Object.values(ours).every((requests) => requests.length > 0));
  assert.ok(
    Object.values(listed)
      .flat()
      .every(({ reason }) => reason.length > 10),
  );
});

test('a difference that is not listed is found, and so is one that is listed and is none', () => {
  const step = 'append a rich event';
  const changed = structuredClone(ours);
  const request = changed[step].find(({ call }) => call === 'appendEvent');
  request.body.content.parts[0].text = 'other';
  changed[step].push(request);
  const differences = differencesOf(ours, changed);
  assert.deepEqual(
    differences.map(({ path, theirs }) => [path, theirs]),
    [
      ['body.content.parts.0.text', '"thinking"'],
      ['(request)', undefined],
    ],
  );
  const { unlisted, idle } = against(differences, [{ path: 'body.content.*' }, { step: 'get', path: '(request)' }]);
  assert.deepEqual([unlisted.length, idle.length], [1, 1]);
});
