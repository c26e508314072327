// An upgrade to a version that is there for these tests alone: the next one, which reads what this build writes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as now from 'statepad/stores/journal';
import { source } from '../../support/source.mjs';
import { append, context, create, loaded, opened, textMedium, update } from './support.mjs';

const { FORMAT, lineStore, logStore, foundIn, compactedLines } = await source(
  ...['version', 'line-store', 'callback-store', 'given-record', 'file/compact'].map(
    (name) => `stores/journal/${name}.ts`,
  ),
);

const NEXT = { version: 2, layout: '22222222', older: [FORMAT] };
const VERSION_LINE = /^V[0-9a-f]{8}\[2,"22222222",\d+\]$/gm;
const key = { appName: 'notes', userId: 'ada', sessionId: 'first' };
const other = { ...key, sessionId: 'other' };
const older = /has version 1, older than 2: open it once with new SessionService\({ store, migrate: 'upgrade' }\)$/;
const newer = /has version 2, newer than 1: update statepad$/;
const rejected = (message) => (error) => error.code === 'rejected' && message.test(error.message);

const history = [
  create(key, 'c1', { app: { set: { motto: 'é' } } }),
  append(key, 'e1', { user: { set: { n: 1 } } }),
  create(other, 'c2', { session: { set: { a: 1 } } }),
  update({ appName: 'notes' }, 'u1', { app: { set: { motto: 'ü' } } }),
];

/** The media of logs: a store of this build (`make`), one of the next version, and all that is there. */
const media = {
  lines: () => {
    const medium = textMedium();
    return {
      make: () => now.journalStore(medium),
      next: () => lineStore(medium, {}, NEXT),
      text: () => medium.text,
      versions: () => medium.text.match(VERSION_LINE)?.length,
    };
  },
  records: () => {
    const log = [];
    const persist = async (records) => void log.push(...records.map((record) => JSON.stringify(record)));
    const restore = () => log.map((text) => JSON.parse(text));
    return {
      make: () => now.callbackStore({ persist, restore }),
      next: () => logStore({ persist, restore, admit: foundIn }, {}, NEXT),
      text: () => log.join('\n'),
      versions: () => log.filter((text) => JSON.parse(text).version === 2).length,
    };
  },
};

/** All that a store tells of the history. */
async function told(store) {
  return [
    await loaded(store, key, { events: { from: 0 } }),
    await loaded(store, other, { events: { from: 0 } }),
    await store.loadScope({ app: 'notes' }, context),
    await store.readLog({ app: 'notes' }, {}, context),
  ];
}

async function fill({ make }) {
  const store = await opened(make());
  for (const change of history) await store.commit(change, context);
  const all = await told(store);
  await store.close();
  return all;
}

for (const [name, medium] of Object.entries(media)) {
  test(`${name} of an older version are refused with the line that upgrades them, and stay as they are`, async () => {
    const place = medium();
    await fill(place);
    const before = place.text();
    for (const migrate of ['create', 'check']) await assert.rejects(opened(place.next(), migrate), rejected(older));
    await assert.rejects(place.next().commit(append(key, 'e2'), context));
    assert.equal(place.text(), before);
  });

  test(`${name} have after the upgrade all that they had, and are closed to the older version`, async () => {
    const place = medium();
    const expected = await fill(place);
    const before = place.text();
    const store = await opened(place.next(), 'upgrade');
    assert.deepEqual(await told(store), expected);
    for (const change of history) assert.equal((await store.commit(change, context)).duplicate, true, change.id);
    await store.close();
    const upgraded = place.text();
    assert.ok(upgraded.startsWith(before), 'nothing is changed');
    for (const migrate of ['upgrade', 'create', 'check']) {
      await assert.rejects(opened(place.make(), migrate), rejected(newer));
      assert.deepEqual(await told(await opened(place.next(), migrate)), expected);
    }
    assert.equal(place.text(), upgraded);
    assert.equal(place.versions(), 1);
    await (await opened(place.next())).commit(append(key, 'e2'), context);
    await assert.rejects(opened(place.make()), rejected(newer));
    assert.equal((await loaded(await opened(place.next()), key)).rev, 2);
  });

  test(`${name} that were upgraded twice at once are whole`, async () => {
    const place = medium();
    const expected = await fill(place);
    const both = [place.next(), place.next()];
    await Promise.all(both.map((store) => opened(store, 'upgrade')));
    assert.equal(place.versions(), 2);
    const store = await opened(place.next());
    assert.deepEqual(await told(store), expected);
    await store.commit(append(key, 'e2'), context);
    assert.equal((await loaded(await opened(place.next()), key)).rev, 2);
  });

  test(`${name} that are new have the later version alone, and the older one writes nothing there`, async () => {
    const place = medium();
    await (await opened(place.next())).commit(create(key, 'c'), context);
    const before = place.text();
    await assert.rejects(place.make().commit(append(key, 'e1'), context));
    assert.equal(place.text(), before);
    assert.equal(place.versions(), 1);
  });
}

test('an upgrade that was torn is made again, and nothing is lost by it', async () => {
  const place = media.lines();
  const expected = await fill(place);
  const text = place.text();
  await opened(place.next(), 'upgrade');
  // An empty line comes first, as the one before it might be torn.
  const line = place.text().slice(text.length + 1);
  for (let end = 0; end < line.length - 1; end++) {
    const medium = textMedium(text + line.slice(0, end));
    const next = () => lineStore(medium, {}, NEXT);
    await assert.rejects(opened(next()), rejected(older), `torn at ${end}`);
    assert.deepEqual(await told(await opened(now.journalStore(medium))), expected);
    assert.equal(medium.text, text + line.slice(0, end));
    const store = await opened(next(), 'upgrade');
    assert.deepEqual(await told(store), expected);
    await store.commit(append(other, 'e1'), context);
    assert.equal((await loaded(await opened(next()), other)).rev, 1);
  }
});

test('a journal whose last line was torn before the upgrade is whole after it', async () => {
  const place = media.lines();
  const expected = await fill(place);
  const torn = place.text().split('\n').at(-2);
  for (let end = 1; end < torn.length; end += 7) {
    const medium = textMedium(place.text() + torn.slice(0, end));
    await opened(lineStore(medium, {}, NEXT), 'upgrade');
    assert.deepEqual(await told(await opened(lineStore(medium, {}, NEXT))), expected, `torn at ${end}`);
  }
});

test('whatever the line of a later version has become, its other lines are not misread', async () => {
  const place = media.lines();
  await fill(place);
  const store = await opened(place.next(), 'upgrade');
  await store.commit(append(key, 'e2'), context);
  const text = place.text();
  const start = text.search(VERSION_LINE);
  for (let at = start - 1; at <= text.indexOf('\n', start); at++) {
    for (const flip of [1, 0x80, 0xff]) {
      const bytes = Buffer.from(text);
      bytes[Buffer.byteLength(text.slice(0, at))] ^= flip;
      const medium = textMedium(bytes.toString());
      await assert.rejects(opened(now.journalStore(medium)), ({ code }) => ['corrupt', 'rejected'].includes(code));
      assert.equal((await loaded(await opened(lineStore(medium, {}, NEXT)), key)).rev, 2, `${at - start}`);
    }
  }
});

test('a line of the version that has run into the one before it takes nothing away', async () => {
  const place = media.lines();
  const expected = await fill(place);
  const text = place.text();
  await opened(place.next(), 'upgrade');
  const joined = `${text.slice(0, -1)}X${place.text().slice(text.length + 1)}`;
  assert.deepEqual(await told(await opened(lineStore(textMedium(joined), {}, NEXT), 'upgrade')), expected);
});

test('a journal is compacted in its own version only', async () => {
  const place = media.lines();
  await fill(place);
  const store = await opened(place.make());
  await store.remove(other, context);
  await store.close();
  const lines = () => place.text().split('\n');
  assert.equal(await compactedLines(lines, NEXT), undefined);
  await opened(place.next(), 'upgrade');
  assert.equal(await compactedLines(lines), undefined);
  const compacted = [];
  for await (const line of await compactedLines(lines, NEXT)) compacted.push(line);
  assert.match(compacted[0], VERSION_LINE);
  const medium = textMedium(compacted.map((line) => `${line}\n`).join(''));
  assert.doesNotMatch(medium.text, /"id":"c2"/);
  assert.equal((await loaded(await opened(lineStore(medium, {}, NEXT)), key)).rev, 1);
});
