// For how long a store remembers changes by their ids, by a clock that its caller sets.

import assert from 'node:assert/strict';
import { append, create, keyOf, update } from '../../support/changes.js';

const context = { signal: new AbortController().signal };
const HOUR = 3_600_000;

/** Refused as long as the app has no value under `x`. */
const guard = { keys: { app: { set: { x: 1 } } } };
const home = { appName: 'app', userId: 'user' };

/**
 * Makes changes, and sends them again hours later. `setHours` sets the clock to so many hours after the beginning.
 * Throws where a store forgets within 24 hours, or remembers for ever.
 */
export async function checkRemembered(store, setHours) {
  const commit = (change) => store.commit(change, context).catch((error) => error);
  const creation = create('c', keyOf('gone'), {}, { digest: 'one' });
  const made = update('u', home, { user: { set: { n: 1 } } }, { digest: 'one' });
  const late = update('late', home, { user: { set: { n: 2 } } }, { digest: 'one' });
  /** Something that is remembered is added to each kind, as a store may look for what is too old only then. */
  const stir = async (hours) => {
    setHours(hours);
    await commit(create(`c${hours}`, keyOf(`s${hours}`)));
    await store.remove(keyOf(`s${hours}`), context);
    await commit(update(`u${hours}`, home, { user: { set: { hours } } }));
    await commit(update(`late${hours}`, home, {}, { guard, attempt: 2 }));
  };
  const told = async (change) => {
    const { duplicate, digest, code } = await commit({ ...change, digest: 'two' });
    return [code ?? (duplicate ? 'duplicate' : 'written'), digest];
  };

  setHours(0);
  await commit(creation);
  await store.remove(keyOf('gone'), context);
  await commit(made);
  assert.equal((await commit({ ...late, guard, attempt: 2 })).code, 'conflict');
  await stir(20);
  assert.deepEqual(await told({ ...late, guard, attempt: 3 }), ['conflict', 'one']);
  await stir(23.9);
  assert.deepEqual(await told(creation), ['duplicate', 'one']);
  assert.deepEqual(await told(made), ['duplicate', 'one']);
  // The last refusal of a call counts.
  await stir(43.9);
  assert.deepEqual(await told(late), ['conflict', 'one']);
  await stir(44.1);
  assert.deepEqual(await told(creation), ['written', undefined]);
  assert.deepEqual(await told(made), ['written', undefined]);
  assert.deepEqual(await told(late), ['written', undefined]);
  // The memory of a session lasts as long as the session.
  await commit(append('e', keyOf('gone')));
  await stir(100);
  assert.deepEqual(await told({ ...creation, digest: 'three' }), ['duplicate', 'two']);
}

/** Runs it with the clock of Node's test runner. */
export async function checkRememberedByMocks(t, store) {
  const start = 1_700_000_000_000;
  t.mock.timers.enable({ apis: ['Date'], now: start });
  await checkRemembered(store, (hours) => t.mock.timers.setTime(start + hours * HOUR));
}
