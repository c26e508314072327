// Logs that this build does not read: of other layouts, of later versions, and what is no log. They are refused by
// name, and stay as they are. What the line or record of the version may suffer without harm.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { callbackStore, fileJournal, journalStore, localStorageJournal } from 'statepad/stores/journal';
import { source } from '../../support/source.mjs';
import { folder } from './files.mjs';
import { append, context, crc32, create, loaded, memoryArea, memoryLocks, opened, textMedium } from './support.mjs';

const { LAYOUT } = await source('stores/journal/version.ts');

const key = { appName: 'notes', userId: 'ada', sessionId: 'first' };
const section = (label, seed, json) => `${label}${crc32(label + seed + json)}${json}`;
const line = (seed, label) => {
  const head = section('K', seed, '[1,"notes","ada","first",0]');
  const own = section(label, head.slice(1, 9), '{"id":"c","kind":"create","time":1}');
  return [head, own, head].join('\t');
};

const what = (layout) =>
  `has ${layout}, written by an unreleased build of statepad; this build reads ${LAYOUT}: open it with the build that made it, or delete it`;
const WITHOUT = what('a layout without a fingerprint');
const OTHER = what('the layout 0badcafe');
const NEWER = 'has version 2, newer than 1: update statepad';

/** Lines that are refused, and what is said. */
const journals = {
  'lines of a build without fingerprints': [[section('V', '', '2'), line('', 'P')], WITHOUT],
  'such lines of which the first is damaged': [['V000000002', line('', 'P')], WITHOUT],
  'lines of a build that did not say the version': [[line('', 'O')], WITHOUT],
  'lines of another layout': [[section('V', '', '[1,"0badcafe",0]'), line('1:0badcafe', 'O')], OTHER],
  'a version of another layout alone': [[section('V', '', '[1,"0badcafe",0]')], OTHER],
  'lines of a later version': [[section('V', '', '[2,"0badcafe",0]'), line('2:0badcafe', 'O')], NEWER],
  'a version that is none': [[section('V', '', '["x"]'), line('x', 'O')], WITHOUT],
};

const media = {
  file: (lines) => {
    const path = `${folder()}/journal`;
    writeFileSync(path, lines.map((text) => `${text}\n`).join(''));
    return {
      name: `the journal "${path}"`,
      make: () => fileJournal(path, { sync: false, compact: true }),
      text: () => readFileSync(path, 'utf8'),
    };
  },
  lines: (lines) => {
    const medium = textMedium(lines.map((text) => `${text}\n`).join(''));
    return { name: 'the journal', make: () => journalStore(medium), text: () => medium.text };
  },
  storage: (lines) => {
    const options = { storage: memoryArea(), locks: memoryLocks() };
    options.storage.setItem('j:0000001', lines.join('\n'));
    return {
      name: 'the journal "j"',
      make: () => localStorageJournal('j', options),
      text: () => JSON.stringify([...options.storage.items]),
    };
  },
};

for (const [name, medium] of Object.entries(media)) {
  for (const [title, [lines, message]] of Object.entries(journals)) {
    test(`${name}: ${title} are refused by name, and stay as they are`, async () => {
      const { name, make, text } = medium(lines);
      const before = text();
      for (const migrate of ['create', 'check', 'upgrade']) {
        await assert.rejects(opened(make(), migrate), (error) => {
          assert.deepEqual(
            [error.code, error.message.replace(name, 'the journal')],
            ['rejected', `the journal ${message}`],
          );
          return true;
        });
      }
      await assert.rejects(make().commit(create(key, 'c'), context));
      assert.equal(text(), before);
    });
  }
}

const record = { id: 'v', kind: 'version', version: 1, layout: LAYOUT, key, time: 0 };
const change = { ...create(key, 'c'), guard: { rev: 0 } };
const logs = {
  'without a fingerprint': [[{ ...record, layout: undefined }, change], 'rejected', `the log ${WITHOUT}`],
  'of a later version without a fingerprint': [
    [{ ...record, version: 2, layout: 3 }],
    'rejected',
    `the log ${WITHOUT}`,
  ],
  'of another layout': [[{ ...record, layout: '0badcafe' }, change], 'rejected', `the log ${OTHER}`],
  'of a later version': [[{ ...record, version: 2 }, change], 'rejected', `the log ${NEWER}`],
  'that was written by two builds': [[record, change, { ...record, version: 2 }], 'rejected', `the log ${NEWER}`],
  'that do not say their version': [[change], 'rejected', `the log ${WITHOUT}`],
  'of which the first is none': [
    [null, change],
    'corrupt',
    'record 1 of the log cannot be read, and its owner is unknown',
  ],
};
for (const [title, [records, code, message]] of Object.entries(logs)) {
  test(`records ${title} are refused by name, and nothing is written`, async () => {
    const persist = () => assert.fail('it writes');
    for (const migrate of ['create', 'check', 'upgrade']) {
      await assert.rejects(opened(callbackStore({ persist, restore: () => records }), migrate), { code, message });
    }
  });
}

/** A journal with a session of two lines. */
async function written() {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  await store.commit(create(key, 'c'), context);
  await store.commit(append(key, 'e1'), context);
  return medium.text;
}

test('a log begins with its version, which is written once', async () => {
  const text = await written();
  assert.equal(text.split('\n')[0], section('V', '', `[1,"${LAYOUT}",0]`));
  const medium = textMedium(text);
  await (await opened(journalStore(medium), 'upgrade')).commit(append(key, 'e2'), context);
  assert.equal(medium.text.match(/^V/gm).length, 1);
});

test('a journal whose first line is damaged or gone is read: the other lines say what they are', async () => {
  const text = await written();
  const bytes = Buffer.from(text);
  for (let place = 0; place <= text.indexOf('\n'); place++) {
    for (const flip of [1, 0x80, 0xff]) {
      const damaged = Buffer.from(bytes);
      damaged[place] ^= flip;
      const medium = textMedium(damaged.toString());
      const store = await opened(journalStore(medium));
      assert.equal((await loaded(store, key)).rev, 1, `${place}`);
      await store.commit(append(key, 'e2'), context);
      assert.equal((await loaded(await opened(journalStore(medium)), key)).rev, 2);
    }
  }
  const rest = text.slice(text.indexOf('\n') + 1);
  assert.equal((await loaded(await opened(journalStore(textMedium(rest))), key)).rev, 1);
});

test('a journal whose beginning was torn any number of times begins anew', async () => {
  const text = await written();
  const [first, second] = text.split('\n');
  const whole = `${first}\n${second}`;
  for (let end = 0; end < whole.length; end++) {
    for (const before of ['', `${first.slice(0, 5)}\n`, `${first.slice(0, 5)}\n${first.slice(0, 12)}\n`]) {
      const medium = textMedium(before + whole.slice(0, end));
      const store = await opened(journalStore(medium));
      assert.equal(await loaded(store, key), null, `torn at ${end} behind ${JSON.stringify(before)}`);
      await store.commit(create(key, 'again'), context);
      assert.equal((await loaded(await opened(journalStore(medium)), key)).created, 'again');
    }
  }
});

test('of two pages that begin the same journal without locks in common one goes on, and nothing is lost', async () => {
  const storage = memoryArea();
  const open = () => opened(localStorageJournal('j', { storage, locks: memoryLocks() }));
  const [one, two] = [await open(), await open()];
  await one.commit(create(key, 'c'), context);
  await assert.rejects(two.commit(create(key, 'd'), context), {
    code: 'rejected',
    message: /written by another page/,
  });
  await one.commit(append(key, 'e1'), context);
  const { created, rev } = await loaded(await open(), key);
  assert.deepEqual([created, rev], ['c', 1]);
  assert.equal([...storage.items.values()].join('\n').match(/^V/gm).length, 1);
});
