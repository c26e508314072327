// The fingerprint of what a log keeps: of its records, and of the lines that a journal makes of them.

import { mock, test } from 'node:test';
import { callbackStore, journalStore } from 'statepad/stores/journal';
import { assertLayout } from '../../support/layout.mjs';
import { source } from '../../support/source.mjs';
import { append, context, create, opened, textMedium, update } from './support.mjs';

const { LAYOUT, compactedLines } = await source('stores/journal/version.ts', 'stores/journal/file/compact.ts');

const key = { appName: 'app', userId: 'user', sessionId: 'session' };
const other = { ...key, sessionId: 'other' };
const all = { app: { set: { a: [1, { b: null }] } }, user: { unset: ['é'] }, session: { set: { n: 'é' } } };

/** Writes one record of each kind, with all that it can have. */
async function write(store) {
  const event = { id: 'c', time: 1, data: '{"id":"c"}' };
  await store.commit(create(key, 'c', all, { event, call: 'call 1', reservation: 'reservation' }), context);
  await store.commit(append(key, 'e', { session: { set: { n: 2 }, unset: ['m'] } }, { call: 'call 2' }), context);
  await store.commit(create(other, 'd', { user: { set: { u: 1 } } }, { digest: 'digest 1' }), context);
  await store.commit(
    update({ appName: 'app' }, 'u', { app: { set: { a: 2 } } }, { known: {}, digest: 'digest 2' }),
    context,
  );
  const refused = { attempt: 2, digest: 'digest 3', guard: { pos: { app: 7 } } };
  await store.commit(update({ appName: 'app' }, 'f', {}, refused), context).catch(() => undefined);
  await store.trimLog({ app: 'app' }, 1, context);
  await store.remove(other, context, { created: 'd' });
  await store.removeScope({ app: 'app', user: 'user' }, context);
  const ending = { ...key, sessionId: 'ending' };
  await store.commit(create(ending, 'x', { session: { set: { n: 1 } } }, { expires: { at: 500 } }), context);
  await store.commit(create(ending, 'y', {}, { expires: { ttl: 100 }, limits: { keys: 1 } }), context);
  await store.commit(append(ending, 'e', {}), context);
  const expired = { ...key, sessionId: 'expired' };
  await store.commit(create(expired, 'z', { user: { set: { u: 1 } } }, { expires: { at: 900 } }), context);
}

/** Checksums have the fingerprint in them. */
const withoutSums = (text) => text.replaceAll(/(^|[\t\n])([A-Z])[0-9a-f]{8}/g, '$1$2');

test('the fingerprint of a log is that of its layout', async () => {
  mock.timers.enable({ apis: ['Date'], now: 1_000 });
  try {
    const [medium, records] = [textMedium(), []];
    await write(await opened(journalStore(medium)));
    await write(await opened(callbackStore({ persist: async (some) => void records.push(...some) })));
    const compacted = [];
    for await (const line of await compactedLines(() => medium.text.split('\n'))) compacted.push(line);
    const texts = records.map((record) => JSON.stringify(record));
    assertLayout(LAYOUT, [withoutSums(medium.text), withoutSums(compacted.join('\n')), ...texts].join('\n'));
  } finally {
    mock.timers.reset();
  }
});
