// Journals of other versions: what version 1 has written, by its own code; and what that code does with what is
// written now.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import * as now from 'statepad/stores/journal';
import * as version1 from '../../fixtures/journal-v1.js';
import {
  append,
  context,
  crc32,
  create,
  loaded,
  memoryArea,
  memoryLocks,
  opened,
  textMedium,
  update,
} from './support.mjs';

const fixture = fileURLToPath(new URL('../../fixtures/journal-v1.log', import.meta.url));
const key = (sessionId, userId = 'ada', appName = 'notes') => ({ appName, userId, sessionId });
const keys = [key('first'), key('second'), key('', "o'brien \0 🦊")];
const refusal = /has version 1, older than 2: open it once with new SessionService\({ store, migrate: 'upgrade' }\)$/;
const cleanups = [];
afterEach(() => cleanups.splice(0).forEach((cleanup) => cleanup()));

/** The changes that are in the fixture, as far as they can be sent again. */
const sent = [
  { id: 'c1', kind: 'create', key: keys[0], time: 1700000000000, delta: {} },
  { id: 'c2', kind: 'create', key: keys[1], time: 1700000000001.5, delta: {} },
  { id: 'e1', kind: 'append', key: keys[0], time: 1700000001000, delta: {} },
  { id: 'u1', kind: 'update', key: { appName: 'notes', userId: 'ada' }, time: 5, delta: {} },
  { id: 'c4', kind: 'create', key: key('gone'), time: 7, delta: { app: { set: { trace: 1 } } } },
];

/** Everything that version 1 tells, and no more. */
async function told(store) {
  const found = [];
  for (const each of [...keys, key('gone')]) {
    for (const events of [{ from: 0 }, { since: 1700000001500 }]) {
      const session = await store.load(each, { events }, context);
      if (session !== null) {
        const { created, rev, time, pos, state, events: stored } = session;
        const values = Object.entries(state).map(([scope, record]) => [scope, Object.entries(record)]);
        found.push({ created, rev, time, pos, values, events: stored.map(({ rev, data }) => ({ rev, data })) });
      }
    }
  }
  found.push(await store.list({ app: 'notes', descending: true }, context));
  for (const scope of [{ app: 'notes' }, { app: 'notes', user: 'ada' }]) {
    const { pos, state } = await store.loadScope(scope, context);
    found.push([pos, Object.entries(state)]);
  }
  return JSON.parse(JSON.stringify(found, (_, value) => (value instanceof Map ? [...value] : value)));
}

/** What a store of either version is over: `made(version)` makes one, `text()` is all that is kept. */
const media = {
  file: () => {
    const folder = mkdtempSync(join(tmpdir(), 'statepad-versions-'));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'journal');
    writeFileSync(path, '');
    return {
      made: (version) => version.fileJournal(path, { sync: false, compact: version === now }),
      fill: (end = '') => writeFileSync(path, readFileSync(fixture, 'utf8') + end),
      text: () => readFileSync(path, 'utf8'),
    };
  },
  lines: () => {
    const medium = textMedium();
    return {
      made: ({ journalStore }) => journalStore(medium),
      fill: () => void (medium.text = readFileSync(fixture, 'utf8')),
      text: () => medium.text,
    };
  },
  storage: () => {
    const options = { storage: memoryArea(), locks: memoryLocks() };
    const fill = () =>
      readFileSync(fixture, 'utf8')
        .trimEnd()
        .split('\n')
        .forEach((line, index) => options.storage.setItem(`j:000000${index + 1}`, line));
    return {
      made: ({ localStorageJournal }) => localStorageJournal('j', options),
      fill,
      text: () => JSON.stringify([...options.storage.items]),
    };
  },
  callbacks: () => {
    const log = [];
    const made = ({ callbackStore }) =>
      callbackStore({
        persist: async (records) => void log.push(...records.map((record) => JSON.stringify(record))),
        restore: () => log.map((text) => JSON.parse(text)),
      });
    const fill = async () => {
      // Its records are those of the lines.
      const medium = textMedium(readFileSync(fixture, 'utf8'));
      const reader = version1.journalStore(medium);
      await opened(reader);
      const writer = await opened(made(version1));
      const session = ({ appName, userId, sessionId }) => ({ appName, userId, sessionId });
      for (const line of medium.text.trimEnd().split('\n')) {
        const [head, ...rest] = line.split('\t');
        const [, appName, userId, sessionId] = JSON.parse(head.slice(9));
        const parts = Object.fromEntries(rest.slice(0, -1).map((part) => [part[0], JSON.parse(part.slice(9))]));
        const { delta, ...own } = parts.O;
        delete own.guard;
        const where = { appName, ...(userId !== null && { userId }), ...(sessionId !== null && { sessionId }) };
        if (own.kind === 'remove') await writer.remove(session(where), context);
        else
          await writer.commit(
            { ...own, key: where, delta: { ...parts.S, ...(delta && { session: delta }) } },
            context,
          );
      }
      await writer.close();
    };
    return { made, fill, text: () => log.join('\n') };
  },
};

for (const [name, medium] of Object.entries(media)) {
  test(`${name} of version 1 is refused with the line that upgrades it, and stays as it is`, async () => {
    const { made, fill, text } = medium();
    await fill();
    const before = text();
    for (const migrate of ['create', 'check']) {
      await assert.rejects(
        opened(made(now), migrate),
        (error) => error.code === 'rejected' && refusal.test(error.message),
      );
    }
    await assert.rejects(made(now).commit(create(key('new'), 'c'), context));
    assert.equal(text(), before);
    const old = await opened(made(version1));
    assert.equal((await told(old)).length, 9);
    await old.close();
  });

  test(`${name} of version 1 has after the upgrade all that it had, recognises what was sent before, and keeps version 1 out`, async () => {
    const { made, fill, text } = medium();
    await fill();
    const before = text();
    const old = await opened(made(version1));
    const expected = await told(old);
    await old.close();
    const store = await opened(made(now), 'upgrade');
    assert.deepEqual(await told(store), expected);
    for (const change of sent) assert.equal((await store.commit(change, context)).duplicate, true, change.id);
    assert.deepEqual(await told(store), expected);
    const { last, marks, events } = await store.load(keys[0], {}, context);
    assert.deepEqual([last, events.map(({ id }) => id), marks], ['e2', ['e1', 'e2'], { app: 'c4', user: 'u1' }]);
    await store.close();
    const upgraded = text();
    assert.ok(upgraded.startsWith(before.replace(/\]$/, '')), 'nothing is changed');
    await assert.rejects(opened(made(version1)));
    assert.equal(text(), upgraded);
    // It is upgraded once, and can be opened by all means then.
    for (const migrate of ['upgrade', 'create', 'check']) {
      const again = await opened(made(now), migrate);
      assert.deepEqual(await told(again), expected);
      await again.close();
    }
    assert.equal(text().match(/V[0-9a-f]{8}2|"kind":"version"/g).length, 1);
    const writer = await opened(made(now));
    assert.equal((await writer.commit(append(keys[0], 'e3'), context)).rev, 3);
    await writer.close();
    await assert.rejects(opened(made(version1)));
  });

  test(`${name} that is new is kept from version 1, which writes nothing into it`, async () => {
    const { made, text } = medium();
    const store = await opened(made(now));
    await store.commit(create(keys[0], 'c'), context);
    await store.close();
    const before = text();
    await assert.rejects(async () => {
      const old = await opened(made(version1));
      await old.commit(append(keys[0], 'e1'), context);
    });
    assert.equal(text(), before);
  });
}

test('an upgrade that was torn is made again, and nothing is lost by it', async () => {
  const text = readFileSync(fixture, 'utf8');
  const medium = textMedium(text);
  await opened(now.journalStore(medium), 'upgrade');
  // An empty line comes first, as the one before it might be torn.
  const line = medium.text.slice(text.length + 1);
  assert.match(line, /^V[0-9a-f]{8}2\n$/);
  const expected = await told(await opened(version1.journalStore(textMedium(text))));
  for (let end = 0; end < line.length - 1; end++) {
    const torn = textMedium(text + line.slice(0, end));
    await assert.rejects(opened(now.journalStore(torn)), (error) => refusal.test(error.message), `torn at ${end}`);
    assert.equal(torn.text, text + line.slice(0, end));
    // Version 1 may take it for damage, and does not write then.
    const old = version1.journalStore(textMedium(torn.text));
    await opened(old).then(
      () => assert.equal(end, 0),
      ({ code }) => assert.equal(code, 'corrupt'),
    );
    const store = await opened(now.journalStore(torn), 'upgrade');
    assert.deepEqual(await told(store), expected);
    await store.commit(append(keys[1], 'e1'), context);
    assert.equal((await loaded(await opened(now.journalStore(torn)), keys[1])).rev, 1);
  }
});

test('a file that was torn in its upgrade is upgraded, too', async () => {
  const { made, fill, text } = media.file();
  fill('V0123');
  const store = await opened(made(now), 'upgrade');
  await store.close();
  assert.match(text(), /\nV[0-9a-f]{8}2\n$/);
  assert.doesNotMatch(text(), /V0123/);
});

test('whatever a line of the version has become, the lines themselves say it', async () => {
  const medium = textMedium();
  const store = await opened(now.journalStore(medium));
  await store.commit(create(keys[0], 'c'), context);
  await store.commit(append(keys[0], 'e1'), context);
  const bytes = Buffer.from(medium.text);
  for (let place = 0; place <= medium.text.indexOf('\n'); place++) {
    for (const flip of [1, 0x80, 0xff]) {
      const damaged = Buffer.from(bytes);
      damaged[place] ^= flip;
      const text = damaged.toString();
      assert.equal((await loaded(await opened(now.journalStore(textMedium(text))), keys[0])).rev, 1, `${place}`);
      await assert.rejects(opened(version1.journalStore(textMedium(text))));
    }
  }
});

test('what a later version has written is refused, however it is opened', async () => {
  const line = `V${crc32('V3')}3\n`;
  const record = { id: 'v', kind: 'version', version: 3, key: key('v'), time: 0, delta: {} };
  for (const migrate of ['create', 'upgrade', 'check']) {
    for (const text of [line, readFileSync(fixture, 'utf8') + line]) {
      const medium = textMedium(text);
      await assert.rejects(opened(now.journalStore(medium), migrate), {
        code: 'rejected',
        message: 'the journal has version 3, newer than 2: update statepad',
      });
      assert.equal(medium.text, text);
    }
    const persist = () => assert.fail('it writes');
    await assert.rejects(opened(now.callbackStore({ persist, restore: () => [record] }), migrate), {
      code: 'rejected',
      message: 'the log has version 3, newer than 2: update statepad',
    });
  }
});

test('a file is compacted in its own version only', async () => {
  // Removals are remembered for some time: it is the day after those of the fixture.
  mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-22T20:00:00Z') });
  cleanups.push(() => mock.timers.reset());
  const { made, fill, text } = media.file();
  fill();
  const before = text();
  await assert.rejects(opened(made(now)), (error) => refusal.test(error.message));
  assert.equal(text(), before);
  await (await opened(made(now), 'upgrade')).close();
  assert.equal(text().slice(0, before.length), before);
  const store = await opened(made(now));
  const compacted = text();
  assert.match(compacted, /^V[0-9a-f]{8}2\n/);
  assert.ok(!compacted.includes('"c4","kind":"create"'));
  assert.equal(
    (await store.commit(sent.at(-1), context)).duplicate,
    true,
    'the creation of what was removed is remembered',
  );
  assert.deepEqual((await store.loadScope({ app: 'notes' }, context)).mark, 'c4');
  await store.close();
  // There is nothing more to be left out.
  await (await opened(made(now))).close();
  assert.equal(text(), compacted);
});

test('what removed sessions have changed stays when it is compacted, also where ids of their events are the same', async () => {
  const { made } = media.file();
  const store = await opened(made(now));
  for (const session of ['one', 'two']) {
    await store.commit(create(key(session), session), context);
    await store.commit(
      append(key(session), 'e1', { app: { set: { [session]: 1 } }, user: { set: { [session]: 1 } } }),
      context,
    );
    await store.remove(key(session), context);
  }
  const refused = append(key('one'), 'late', {}, { attempt: 2 });
  await assert.rejects(store.commit(refused, context), { code: 'not-found' });
  const before = [
    await store.loadScope({ app: 'notes' }, context),
    await store.loadScope({ app: 'notes', user: 'ada' }, context),
  ];
  await store.close();
  const again = await opened(made(now));
  assert.deepEqual(
    [await again.loadScope({ app: 'notes' }, context), await again.loadScope({ app: 'notes', user: 'ada' }, context)],
    before,
  );
  assert.equal(before[0].mark, 'e1');
  await again.commit(create(key('one'), 'anew'), context);
  await assert.rejects(again.commit(append(key('one'), 'late'), context), { code: 'conflict' });
  for (const session of ['one', 'two'])
    assert.equal((await again.commit(create(key(session), session), context)).duplicate, true);
  await again.close();
});

test('what is remembered of removals and refusals goes out of a compacted file after some days', async () => {
  const { made, text } = media.file();
  const [start, day] = [Date.now(), 86_400_000];
  mock.timers.enable({ apis: ['Date'], now: start });
  try {
    const store = await opened(made(now));
    for (const session of ['one', 'two']) await store.commit(create(key(session), session), context);
    await assert.rejects(store.commit(append(key('one'), 'late', {}, { attempt: 2, guard: { rev: 7 } }), context), {
      code: 'conflict',
    });
    await store.remove(key('one'), context);
    await store.close();
    await (await opened(made(now))).close();
    assert.match(text(), /"late"/);
    assert.match(text(), /"created":"one"/);
    mock.timers.setTime(start + 3 * day);
    const later = await opened(made(now));
    await later.remove(key('two'), context);
    await later.close();
    await (await opened(made(now))).close();
    assert.doesNotMatch(text(), /"late"|"created":"one"/);
    assert.match(text(), /"created":"two"/);
  } finally {
    mock.timers.reset();
  }
});

test('what was kept is read again, whatever was refused or done under the same name long before', async () => {
  const log = [];
  const make = () =>
    now.callbackStore({
      persist: async (records) => void log.push(...records.map((record) => JSON.stringify(record))),
      restore: () => log.map((text) => JSON.parse(text)),
    });
  const start = Date.now();
  mock.timers.enable({ apis: ['Date'], now: start });
  try {
    const store = await opened(make());
    await store.commit(create(keys[0], 'c'), context);
    const change = append(keys[0], 'e1', {}, { attempt: 2, guard: { rev: 7 } });
    const twice = update({ appName: 'notes' }, 'u', { app: { set: { n: 1 } } });
    await assert.rejects(store.commit(change, context), { code: 'conflict' });
    await store.commit(twice, context);
    mock.timers.setTime(start + 86_400_000);
    // These make it forget what is too old.
    await assert.rejects(store.commit({ ...change, id: 'other' }, context), { code: 'conflict' });
    await store.commit({ ...twice, id: 'another' }, context);
    assert.equal((await store.commit({ ...change, guard: {} }, context)).rev, 1);
    assert.equal((await store.commit(twice, context)).duplicate, undefined);
    const before = [await loaded(store, keys[0]), await store.loadScope({ app: 'notes' }, context)];
    const again = await opened(make());
    assert.deepEqual([await loaded(again, keys[0]), await again.loadScope({ app: 'notes' }, context)], before);
  } finally {
    mock.timers.reset();
  }
});

test('a log keeps the call of a change, and not what its caller knew or how often it has tried', async () => {
  const log = [];
  const store = await opened(
    now.callbackStore({ persist: async (records) => void log.push(...records), restore: () => [] }),
  );
  const more = { call: 'call 1', attempt: 2, known: { pos: { app: 0 }, marks: {} } };
  await store.commit(create(keys[0], 'c', { app: { set: { n: 1 } } }, more), context);
  await assert.rejects(
    store.commit(append(keys[0], 'e', {}, { ...more, call: 'call 2', guard: { rev: 3 } }), context),
    { code: 'conflict' },
  );
  assert.deepEqual(
    log.map(({ kind }) => kind),
    ['version', 'create', 'refusal'],
  );
  const [version, made, refused] = log;
  assert.deepEqual(
    [version.version, made.call, made.attempt, made.known, refused.call],
    [2, 'call 1', undefined, undefined, 'call 2'],
  );
  assert.equal((await store.loadScope({ app: 'notes' }, context)).mark, 'call 1');
});

test('a refusal that cannot be kept is not told: the call may be tried again', async () => {
  const log = [];
  let isDown = false;
  const persist = async (records) => {
    if (isDown) throw new now.StoreError('unavailable', 'no room');
    log.push(...records);
  };
  const store = await opened(now.callbackStore({ persist, restore: () => log }));
  await store.commit(create(keys[0], 'c'), context);
  isDown = true;
  const change = append(keys[0], 'e', {}, { attempt: 2, guard: { rev: 3 } });
  await assert.rejects(store.commit(change, context), { code: 'unavailable' });
  isDown = false;
  await assert.rejects(store.commit(change, context), { code: 'conflict' });
  await assert.rejects(store.commit({ ...change, attempt: 3, guard: {} }, context), { code: 'conflict' });
});

test('a session that cannot be read is removed when it is the one that is meant', async () => {
  const medium = textMedium();
  const store = await opened(now.journalStore(medium));
  await store.commit(create(keys[0], 'c1'), context);
  await store.commit(append(keys[0], 'e1'), context);
  await store.commit(create(keys[1], 'c2'), context);
  const damaged = medium.text.replace('"id":"e1"', '"id":"E1"').replace('"id":"c2"', '"id":"C2"');
  const again = await opened(now.journalStore(textMedium(damaged)));
  await again.remove(keys[0], context, { created: 'other' });
  assert.equal(await loaded(again, keys[0]), 'corrupt');
  await again.remove(keys[0], context, { created: 'c1' });
  assert.equal(await loaded(again, keys[0]), null);
  // Of this one it is not known which it was.
  await assert.rejects(again.remove(keys[1], context, { created: 'c2' }), { code: 'corrupt' });
  await again.remove(keys[1], context);
  assert.equal(await loaded(again, keys[1]), null);
});

test('a line of the version that has run into the one before it takes nothing away', async () => {
  const text = readFileSync(fixture, 'utf8');
  const expected = await told(await opened(version1.journalStore(textMedium(text))));
  const store = await opened(now.journalStore(textMedium(`${text.slice(0, -1)}XV${crc32('V2')}2\n`)), 'upgrade');
  assert.deepEqual(await told(store), expected);
});
