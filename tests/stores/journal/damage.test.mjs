// Journals with lines that are torn, damaged, missing or there twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalStore } from 'statepad/stores/journal';
import { numbersFrom } from '../../support/random.js';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { append, context, create, loaded, opened, textMedium, update } from './support.mjs';

const a = { appName: 'x', userId: 'ä', sessionId: 'a' };
const b = { appName: 'x', userId: 'b', sessionId: '日本\t\n' };
const c = { appName: 'y', userId: 'c', sessionId: 'c' };
const d = { appName: 'z', userId: 'd', sessionId: 'd' };
const keys = [a, b, c, d];

const history = [
  create(a, 'a0', { session: { set: { n: 0 } } }),
  create(b, 'b0', { app: { set: { motto: 'é' } } }),
  create(c, 'c0', { user: { set: { theme: 'dark' } } }),
  create(d, 'd0'),
  append(a, 'a1', { session: { set: { n: 1 } }, app: { set: { motto: '日' } } }),
  append(b, 'b1', { session: { set: { n: 1 } } }),
  append(c, 'c1', { user: { set: { theme: 'light' }, unset: ['font'] } }),
  append(d, 'd1', { session: { set: { n: 1 } } }),
  update({ appName: 'y', userId: 'c' }, 'u1', { app: { set: { motto: 'ü' } }, user: { set: { font: 'serif' } } }),
  append(a, 'a2', { session: { set: { n: 2 } } }),
  append(b, 'b2'),
  append(c, 'c2', { session: { set: { n: 2 } } }),
  append(d, 'd2', { session: { set: { n: 2 } } }),
];

async function write(changes) {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  for (const change of changes) {
    await store.commit(change, context);
  }
  return medium.text;
}

const whole = await write(history);
const [version, ...lines] = whole.split('\n').slice(0, -1);

/** All sessions of a journal; or that it cannot be opened. */
async function read(text) {
  const store = journalStore(textMedium(text));
  try {
    await opened(store);
  } catch (error) {
    assert.equal(error.code, 'corrupt', error.stack);
    assert.match(error.message, /line/);
    return 'refused';
  }
  return await Promise.all(keys.map((key) => plain(store, key)));
}

/** A session without the marks of its scopes: what is left of a damaged line does not tell its own. */
async function plain(store, key) {
  const found = await loaded(store, key);
  if (found !== null && typeof found === 'object') {
    delete found.marks;
  }
  return found;
}

const right = await read(whole);

/** The sessions that are corrupt; everything else must be as it was. */
function corruptOf(sessions, expected, note) {
  return keys.filter((_, index) => {
    if (sessions[index] === 'corrupt') {
      return true;
    }
    assert.deepEqual(sessions[index], expected[index], note);
    return false;
  });
}

test('a journal that is whole reads as it was written', () => {
  assert.deepEqual(
    right.map(({ rev }) => rev),
    [2, 2, 2, 2],
  );
  assert.deepEqual(right[2].state, {
    session: { n: 2 },
    app: { motto: 'ü' },
    user: { theme: 'light', font: 'serif' },
  });
  assert.deepEqual(right[0].pos, { app: 2, user: 0 });
  assert.equal(lines.length, history.length);
});

test('a line that is torn anywhere is passed over, and the journal goes on behind it', async () => {
  const before = await read(whole.slice(0, -lines.at(-1).length - 1));
  const bytes = Buffer.from(whole);
  const start = bytes.length - Buffer.byteLength(lines.at(-1)) - 1;
  for (let end = start; end < bytes.length - 1; end++) {
    const torn = bytes.subarray(0, end).toString();
    assert.deepEqual(await read(torn), before, `torn at ${end - start}`);
    const medium = textMedium(torn);
    const store = await opened(journalStore(medium));
    assert.equal((await store.commit(history.at(-1), context)).duplicate, undefined);
    assert.deepEqual(await read(medium.text), right, `written behind what is torn at ${end - start}`);
  }
  // Only the line feed is missing: nothing is lost.
  assert.deepEqual(await read(whole.slice(0, -1)), right);
});

test('torn ends of several lives do no harm', async () => {
  let text = '';
  for (const change of history) {
    const medium = textMedium(text);
    await (await opened(journalStore(medium))).commit(change, context);
    text = medium.text + lines.at(-1).slice(0, 20 + (text.length % 90));
  }
  assert.deepEqual(await read(text), right);
});

/** The changes to a byte, besides a line feed. */
const flips = [
  (byte) => byte ^ 1,
  (byte) => byte ^ 0x80,
  (byte) => byte ^ 0xff,
  () => 0,
  () => 9,
  () => 13,
  () => 0x4b,
];

for (const index of [1, 4, 6, 8, 9, lines.length - 1]) {
  const line = lines[index];
  const { kind, key, delta } = history[index];
  test(`whatever byte of line ${index + 1} (${kind}) is damaged, only what it belongs to is corrupt`, async () => {
    const bytes = Buffer.from(whole);
    const start = Buffer.byteLength([version, ...lines.slice(0, index)].map((text) => `${text}\n`).join(''));
    const isLast = index === lines.length - 1;
    // The sessions that the loss of the line may damage: its own, and those of the scopes that it touches.
    const may = keys.filter(
      (other) =>
        other === key || (other.appName === key.appName && (delta.app || (delta.user && other.userId === key.userId))),
    );
    const seen = new Set();
    for (let place = start; place <= start + Buffer.byteLength(line); place++) {
      for (const flip of [() => 10, flips[place % flips.length]]) {
        const damaged = Buffer.from(bytes);
        damaged[place] = flip(bytes[place]);
        if (damaged[place] === bytes[place]) {
          continue;
        }
        const note = `byte ${place - start} of ${line}: ${bytes[place]} → ${damaged[place]}`;
        const sessions = await read(damaged.toString());
        if (sessions === 'refused') {
          assert.ok(isLast && damaged[place] === 10, note);
          continue;
        }
        const corrupt = corruptOf(sessions, right, note);
        assert.ok(
          corrupt.every((other) => may.includes(other)),
          note,
        );
        corrupt.forEach((other) => seen.add(other));
        // Between two lines nothing is lost: they are told apart again.
        assert.ok(place < start + Buffer.byteLength(line) || corrupt.length === 0, note);
      }
    }
    assert.deepEqual([...seen].sort(), [...may].sort());
  });
}

test('no damage of several bytes goes unnoticed', async () => {
  const random = numbersFrom(20240607);
  const bytes = Buffer.from(whole);
  // The last line stays: one that is torn and overwritten at once was perhaps never there.
  const end = bytes.length - Buffer.byteLength(lines.at(-1)) - 1;
  const results = { refused: 0, corrupt: 0, sound: 0 };
  for (let round = 0; round < 1500; round++) {
    const damaged = Buffer.from(bytes);
    for (let count = 2 + random(4); count > 0; count--) {
      const length = 1 + random(40);
      const place = random(end - length);
      damaged.fill(random(2) === 0 ? random(256) : 10, place, place + length);
    }
    const sessions = await read(damaged.toString());
    const kind =
      sessions === 'refused'
        ? 'refused'
        : corruptOf(sessions, right, `round ${round}`).length > 0
          ? 'corrupt'
          : 'sound';
    results[kind] += 1;
  }
  assert.ok(results.refused > 10 && results.corrupt > 1000, JSON.stringify(results));
});

test('a line whose ends are both damaged is named, and nothing is opened', async () => {
  const damaged = [...lines];
  damaged[5] = `k${lines[5].slice(1, -1)}}`;
  await assert.rejects(
    opened(journalStore(textMedium(`${damaged.join('\n')}\n`))),
    (error) => error.code === 'corrupt' && /line 6 /.test(error.message),
  );
});

test('a corrupt session is listed, neither read nor written, and gone when it is removed', async () => {
  const damaged = [...lines];
  damaged[5] = lines[5].replace('b1', 'B1');
  const medium = textMedium(`${damaged.join('\n')}\n`);
  const store = await opened(journalStore(medium));
  const text = medium.text;
  assert.equal(await loaded(store, b), 'corrupt');
  const error = await store.load(b, {}, context).catch((error) => error);
  assert.ok(error.message.includes(b.sessionId));
  await assert.rejects(store.commit(append(b, 'b3'), context), { code: 'corrupt' });
  await assert.rejects(store.commit(create(b, 'b4'), context), { code: 'corrupt' });
  const [fine, refused] = await store.commitMany([append(a, 'a3'), append(b, 'b3')], context);
  assert.equal(fine.rev, 3);
  assert.equal(refused.code, 'corrupt');
  const page = await store.list({ app: 'x', descending: false }, context);
  assert.deepEqual(page.corrupt, [b]);
  assert.deepEqual(
    page.rows.map(({ key }) => key),
    [a],
  );
  assert.equal(page.total, 2);
  assert.deepEqual((await store.list({ app: 'x', user: a.userId, descending: false }, context)).corrupt, undefined);
  assert.deepEqual((await store.list({ app: 'x', descending: false, offset: 1 }, context)).corrupt, undefined);
  assert.ok(medium.text.startsWith(text), 'nothing is overwritten');
  await store.remove(b, context);
  assert.equal(await loaded(store, b), null);
  await store.commit(create(b, 'b5'), context);
  const again = await opened(journalStore(textMedium(medium.text)));
  assert.equal((await loaded(again, b)).created, 'b5');
  assert.equal((await loaded(again, a)).rev, 3);
});

test('app values that are lost make the app corrupt until they are removed; others go on', async () => {
  const damaged = [...lines];
  damaged[4] = lines[4].replace('日', '月');
  assert.notEqual(damaged[4], lines[4]);
  const medium = textMedium(`${damaged.join('\n')}\n`);
  const store = await opened(journalStore(medium));
  assert.deepEqual(await Promise.all(keys.map((key) => plain(store, key))), [
    'corrupt',
    'corrupt',
    right[2],
    right[3],
  ]);
  await assert.rejects(store.loadScope({ app: 'x' }, context), { code: 'corrupt' });
  await assert.rejects(store.list({ app: 'x', descending: false }, context), { code: 'corrupt' });
  await assert.rejects(store.commit(update({ appName: 'x' }, 'u2', { app: { set: { motto: '' } } }), context), {
    code: 'corrupt',
  });
  assert.deepEqual({ ...(await store.loadScope({ app: 'x', user: 'b' }, context)).state }, {});
  await store.removeScope({ app: 'x' }, context);
  for (const reader of [store, await opened(journalStore(textMedium(medium.text)))]) {
    assert.deepEqual(await plain(reader, a), {
      ...right[0],
      pos: { app: 3, user: 0 },
      state: { ...right[0].state, app: {} },
    });
    assert.equal((await loaded(reader, b)).rev, 2);
  }
});

test('user values that are lost make the sessions of this user corrupt', async () => {
  const damaged = [...lines];
  damaged[6] = lines[6].replace('light', 'night');
  const store = await opened(journalStore(textMedium(`${damaged.join('\n')}\n`)));
  assert.deepEqual(await Promise.all(keys.map((key) => plain(store, key))), [right[0], right[1], 'corrupt', right[3]]);
  await assert.rejects(store.loadScope({ app: 'y', user: 'c' }, context), { code: 'corrupt' });
  assert.deepEqual({ ...(await store.loadScope({ app: 'y' }, context)).state }, { motto: 'ü' });
  const { rows, corrupt, users } = await store.list({ app: 'y', descending: false }, context);
  assert.deepEqual([rows, corrupt, users.size], [[], [c], 0]);
});

test('a missing line makes its session corrupt, if a later one shows it; otherwise nothing is opened', async () => {
  for (const [index, { kind, key, delta }] of history.entries()) {
    const sessions = await read(whole.replace(`${lines[index]}\n`, ''));
    const isShown = kind !== 'update' && history.slice(index + 1).some((later) => later.key === key);
    if (index === lines.length - 1) {
      assert.equal(sessions[3].rev, 1, 'the end of a journal is not to be seen');
    } else if (isShown) {
      const corrupt = corruptOf(sessions, right, `without line ${index + 1}`);
      assert.ok(corrupt.includes(key));
      assert.ok(
        corrupt.every((other) => other === key || delta.app || delta.user),
        `without line ${index + 1}`,
      );
      assert.equal(corrupt.includes(a) && corrupt.includes(b), key.appName === 'x' && delta.app !== undefined);
    } else {
      assert.equal(sessions, 'refused', `without line ${index + 1}`);
    }
  }
});

test('a removal that is refused as corrupt takes no request behind it with it', async () => {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  await store.commit(create(b, 'c2'), context);
  const again = await opened(journalStore(textMedium(medium.text.replace('"id":"c2"', '"id":"C2"'))));
  // Of the damaged session it is not known which one it was.
  const removal = again.remove(b, context, { created: 'c2' });
  const behind = [create(a, 'c1'), append(a, 'e1')].map((change) => again.commit(change, context));
  await assert.rejects(removal, { code: 'corrupt' });
  assert.deepEqual(
    (await Promise.all(behind)).map(({ rev }) => rev),
    [0, 1],
  );
});

test('lines that a retry has written twice count once', async () => {
  for (let start = 0; start < lines.length; start++) {
    for (let end = start + 1; end <= lines.length; end++) {
      const text = [...lines.slice(0, end), ...lines.slice(start)].map((line) => `${line}\n`).join('');
      assert.deepEqual(await read(text), right, `lines ${start + 1} to ${end} are there twice`);
    }
  }
});

test('what comes twice does not come back to life', async () => {
  const medium = textMedium();
  const store = await opened(journalStore(medium));
  await store.commit(create(a, 'a0', { app: { set: { n: 1 } } }), context);
  await store.commit(append(a, 'a1'), context);
  await store.remove(a, context);
  await store.commit(update({ appName: 'x' }, 'u', { app: { set: { n: 2 } } }), context);
  const lines = medium.text.split('\n').slice(0, -1);
  const again = await opened(journalStore(textMedium([...lines, ...lines.slice(0, 2), ''].join('\n'))));
  assert.equal(await loaded(again, a), null);
  assert.deepEqual((await again.loadScope({ app: 'x' }, context)).state.n, 2);
});

test('a text that is no journal is left alone', async () => {
  for (const text of ['hello', 'hello\n', 'Vanilla\n', '{"id":1}\n{"id":2}\n', 'K', '\u0000'.repeat(10) + 'x']) {
    const outcome = await read(text);
    // A single K may be the beginning of the first line.
    assert.equal(outcome === 'refused', text !== 'K', JSON.stringify(text));
  }
});

const lost = {
  'a line of each is missing': {
    damage: (lines, { sessionId }) =>
      lines.filter((line) => !(line.includes('"create"') && line.includes(`"create ${sessionId}"`))),
    isPlaced: false,
  },
  'a value of the user of each is damaged': {
    damage: (lines, { userId }) => lines.map((line) => line.replace(`{"name":"${userId}"}`, '{"name":"spoilt"}')),
    part: 'user',
  },
};
for (const [name, { damage, ...more }] of Object.entries(lost)) {
  test(`a list is followed past corrupt sessions: ${name}`, async () => {
    const medium = textMedium();
    const spoil = (keys) => void (medium.text = keys.reduce(damage, medium.text.split('\n')).join('\n'));
    await checkCorruptPages({ open: () => journalStore(medium), damage: spoil, ...more });
  });
}
