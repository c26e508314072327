// `statepad render`, as a process.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sqliteStore } from 'statepad/stores/sqlite';
import { PROGRAM, runs } from './process.mjs';
import { fill, testFolder } from './stored.mjs';

const folder = testFolder();
const database = join(folder, 'sessions.db');
await fill(sqliteStore(database));
const session = [database, 'shop', 'ana', 'monday'];
const template = join(folder, 'prompt.txt');
writeFileSync(template, 'Explain {topic}.\nVisits: {user:visits}{draft?} {{as it is}}\n');

describe('statepad render', () => {
  it('prints the instruction of a file, and of a text', async () => {
    const { code, out, err } = await runs(['render', template, ...session]);
    assert.deepEqual([code, out, err], [0, 'Explain moon.\nVisits: 2no {{as it is}}\n', '']);
    assert.equal((await runs(['render', '--text', '{app:asked} of {topic}', ...session])).out, '1 of moon\n');
  });

  it('reads a template from standard input', () => {
    const out = execFileSync(process.execPath, [PROGRAM, 'render', '-', ...session], {
      input: 'On {topic}',
      encoding: 'utf8',
    });
    assert.equal(out, 'On moon\n');
  });

  it('renders the past', async () => {
    const past = await runs(['render', template, ...session, '--at', '0']);
    assert.equal(past.out, 'Explain tides.\nVisits: 1no {{as it is}}\n');
    const none = await runs(['render', template, ...session, '--at', '9']);
    assert.deepEqual([none.code, /has no revision 9: its last one is 3/.test(none.err)], [3, true], none.err);
  });

  it('takes values of temp: keys', async () => {
    const text = ['render', '--text', '{temp:draft} {temp:n}'];
    const { code, out } = await runs([...text, ...session, '--set', 'temp:draft="hello"', '--set', 'temp:n={"a":1}']);
    assert.deepEqual([code, out], [0, 'hello {"a":1}\n']);
    for (const [value, message] of [
      ['topic="x"', /--set is for temp: keys/],
      ['temp:x=hello', /needs JSON behind the =/],
    ]) {
      const end = await runs([...text, ...session, '--set', value]);
      assert.deepEqual([end.code, message.test(end.err)], [2, true], end.err);
    }
  });

  it('names each missing key with its place and the nearest key', async () => {
    const { code, out, err } = await runs(['render', '--text', 'a\n{topik} {artifact.x}', ...session]);
    assert.deepEqual([code, out], [3, '']);
    assert.match(err, /"topik" \(line 2, column 1, did you mean "topic"\?\), "artifact\.x" \(line 2, column 9\)/);
    const missing = await runs(['render', template, database, 'shop', 'ana', 'friday']);
    assert.deepEqual([missing.code, /there is no session friday of ana in shop/.test(missing.err)], [3, true]);
    const file = await runs(['render', join(folder, 'none.txt'), ...session]);
    assert.deepEqual([file.code, /there is no such file; --text takes/.test(file.err)], [1, true], file.err);
  });

  it('explains each placeholder by the write that it comes from', async () => {
    const text = '{topic} {user:visits} {app:open} {user:no?} {topik}';
    const { code, out } = await runs(['render', '--text', text, ...session, '--json']);
    assert.equal(code, 3);
    const rows = out.trimEnd().split('\n').map(JSON.parse);
    assert.deepEqual(
      rows.map(({ key, scope, text: value, revision, author }) => [key, scope, value, revision, author]),
      [
        ['topic', 'session', 'moon', 1, 'tutor'],
        ['user:visits', 'user', '2', 2, 'tutor'],
        ['app:open', 'app', 'true', 0, undefined],
        ['user:no', 'user', undefined, undefined, undefined],
        ['topik', 'session', undefined, undefined, undefined],
      ],
    );
    const table = await runs(['render', '--text', '{topic} {app:open}', ...session, '--explain']);
    assert.equal(table.code, 0);
    assert.match(
      table.out,
      /^PLACE +PLACEHOLDER +SCOPE +REVISION +WRITTEN BY +VALUE\n +1:1 +topic +session +1 +tutor +moon\n/,
    );
  });
});
