// A process that is killed at any moment loses nothing that it has acknowledged, and leaves nothing half done.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fileJournal } from 'statepad/stores/journal';
import { killLoop } from '../../support/kill.mjs';
import { context } from './support.mjs';
import { keys, payload } from './kill-data.mjs';

const rounds = 200;
/** A new file now and then, so that reading does not take longer and longer. */
const perFile = 5;
/** The maximum number of changes in one group. */
const atOnce = keys.length;

test(`${rounds} processes are killed while they write: all that they acknowledged is there, once, whole and in order`, async (t) => {
  const seed = 20240611;
  t.diagnostic(`seed ${seed}`);
  const folder = mkdtempSync(join(tmpdir(), 'statepad-kill-'));
  const path = (round) => join(folder, `${Math.floor(round / perFile)}.journal`);
  const written = new Map();
  const counts = { acknowledged: 0, beyond: 0, torn: 0 };
  const verify = async ({ round, lines }) => {
    const bytes = readFileSync(path(round), { flag: 'a+' });
    counts.torn += bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0;
    const store = fileJournal(path(round), { sync: false });
    await store.open({ migrate: 'create' }, context);
    const stored = new Map();
    for (const key of keys) {
      const session = await store.load(key, {}, context);
      session?.events.forEach(({ rev, data }, index) => {
        const { id } = JSON.parse(data);
        const [of, number] = id.split(' ').map(Number);
        assert.equal(rev, index + 1);
        assert.equal(data, payload(id));
        assert.equal(session.state.session[id], number);
        assert.equal(number % keys.length, keys.indexOf(key));
        const numbers = stored.get(of) ?? stored.set(of, []).get(of);
        assert.ok(!numbers.includes(number), `${id} is there twice`);
        assert.ok(
          !numbers.some((other) => other % keys.length === number % keys.length && other > number),
          `${id} is out of order`,
        );
        numbers.push(number);
      });
    }
    await store.close();
    const acknowledged = lines.map(Number);
    assert.deepEqual(
      acknowledged,
      acknowledged.map((_, index) => index),
    );
    const now = stored.get(round)?.length ?? 0;
    // The last group may be there without having been acknowledged, and nothing else.
    assert.ok(
      now >= acknowledged.length && now <= acknowledged.length + atOnce,
      `round ${round}: ${acknowledged.length} acknowledged, ${now} there`,
    );
    written.set(round, now);
    for (let before = round - (round % perFile); before <= round; before++) {
      const numbers = (stored.get(before) ?? []).sort((a, b) => a - b);
      assert.deepEqual(
        numbers,
        Array.from({ length: written.get(before) }, (_, index) => index),
        `what round ${before} wrote, after round ${round}`,
      );
    }
    counts.acknowledged += acknowledged.length;
    counts.beyond += now - acknowledged.length;
  };
  try {
    await killLoop({
      childScript: fileURLToPath(new URL('kill-child.mjs', import.meta.url)),
      args: (round) => [path(round), String(round), round % 2 === 0 ? 'sync' : 'no sync'],
      rounds,
      verify,
      seed,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
  t.diagnostic(
    `${counts.acknowledged} acknowledged, ${counts.beyond} written and not acknowledged, ${counts.torn} torn ends`,
  );
  assert.ok(counts.acknowledged > rounds, 'the processes came to write something');
});
