// The stores of Cloudflare's platform: all of it runs inside workerd, which enforces the limits of the platform.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { storeCases } from 'statepad/testing';
import { logLaws } from '../support/log-laws.js';
import { assertVaried } from '../support/random.js';
import { startHost, temporaryFolder } from './host.mjs';

let host;
before(async () => (host = await startHost()));
after(() => host.stop());

const without = (...lacking) => storeCases.filter(({ needs }) => !needs.some((need) => lacking.includes(need)));
/** An object has one process. */
const objectCases = without('watch');
/** Statements of a batch cannot resolve operators: SQL reads and writes numbers in another way than JSON does. */
const d1Cases = without('watch', 'increment', 'append', 'setOnce', 'compareAndSet');

/** Of random changes, some have to come to each end. */
const VARIED = { duplicate: 20, exists: 20, 'not-found': 20, conflict: 20 };

/** The session that the services of both tests have made. */
const served = {
  state: { mood: 'glad', 'app:count': 1, 'user:name': 'Ana' },
  revision: 2,
  sessions: ['one', 's', 'two'],
};

/** The tests of both stores. */
function commonTests(store, cases) {
  const ask = (test, details) => host.ask({ store, test, ...details });
  for (const { name } of cases) {
    it(name, () => host.ask({ store, case: name }));
  }
  for (const title of Object.keys(logLaws)) {
    it(title, () => ask('law', { title }));
  }

  it('does what the reference does, whatever comes', async () => {
    assertVaried(await ask('randomly', { seed: 1, length: 1_000 }), VARIED);
  });

  it('keeps values and times exactly', () => ask('exact'));
  it('keeps what is big, and refuses what is too big', () => ask('big'));
  it('says which session cannot be read, and reads the others', () => ask('corrupt'));
  for (const part of ['session', 'user']) {
    it(`says where a page ends that has sessions that are corrupt with their ${part}`, () => ask('follow', { part }));
  }
  it('writes nothing to tables of a later version', () => ask('newer'));
  it('tells what others have done as the reference does, over many changes', () => ask('told'));
  it('says at once what it has to be given', () => ask('wrong'));

  it('undoes a change that fails at any of its statements', async () => {
    assert.ok((await ask('failsInTheMiddle')) > 20);
  });

  it('serves a service, and the next one', async () => {
    assert.deepEqual(await ask('service'), served);
  });
}

describe('a durable object', () => {
  commonTests('object', objectCases);

  it('refuses tables of another layout', () => host.ask({ store: 'object', test: 'layout' }));

  it('loses nothing when two stores of one object write at once', async () => {
    const answer = await host.ask({ store: 'object', test: 'writeTwice' });
    assert.deepEqual(answer, { rev: 400, events: 400, ids: 400, pos: 400, names: 400 });
  });

  it('reads nothing again when one service has it for itself', async () => {
    const [shared, alone] = await host.ask({ store: 'object', test: 'readAgain' });
    assert.ok(shared > 0);
    assert.equal(alone, 0);
  });

  it('says how its class has to be declared', async () => {
    const messages = await host.ask({ store: 'plain', test: 'notDeclared' });
    assert.deepEqual(messages.filter((message) => message.includes('new_sqlite_classes')).length, 2);
  });
});

describe('d1', () => {
  commonTests('d1', d1Cases);

  it('takes one round trip for each operation', () => host.ask({ store: 'd1', test: 'roundTrips' }));
  it('stores once what got lost and is sent again', () => host.ask({ store: 'd1', test: 'lostAndSentAgain' }));
  it('sweeps in batches of few rows', () => host.ask({ store: 'd1', test: 'sweptInSlices' }));
  it('creates nothing in the place of what expires meanwhile', () =>
    host.ask({ store: 'd1', test: 'expiringMeanwhile' }));
  it('can be opened by many at once', () => host.ask({ store: 'd1', test: 'openAtOnce' }));
  it('refuses tables that do not suit', () => host.ask({ store: 'd1', test: 'openWhatDoesNotSuit' }));
  it('is brought up to date once, by whoever comes first', () => host.ask({ store: 'd1', test: 'upgradeAtOnce' }));

  it('loses nothing when two workers write at once', async () => {
    await host.ask({ store: 'd1', test: 'begin' });
    const request = { store: 'd1', test: 'write', isKept: true, count: 200 };
    await Promise.all(['one', 'two'].map((name) => host.ask({ ...request, name }, name)));
    const answer = await host.ask({ store: 'd1', test: 'read', isKept: true });
    assert.deepEqual(answer, { rev: 400, events: 400, ids: 400, pos: 400, names: 400 });
  });

  it('says of an error what is certain, and nothing more', async () => {
    const codes = {
      'D1_ERROR: database is locked: SQLITE_BUSY': 'unavailable',
      'D1_ERROR: D1 DB is overloaded. Requests queued for too long.': 'unavailable',
      'D1_ERROR: D1 DB is overloaded. Too many requests queued.': 'unavailable',
      'D1_ERROR: Cannot resolve D1 DB due to transient issue on remote node.': 'unavailable',
      'D1_ERROR: Exceeded maximum DB size': 'unavailable',
      'D1_ERROR: database or disk is full: SQLITE_FULL': 'unavailable',
      "D1_ERROR: Your account has exceeded D1's maximum account storage limit, please contact Cloudflare":
        'unavailable',
      "D1_ERROR: Your account has exceeded D1's free tier daily row write limit.": 'unavailable',
      'D1_ERROR: string or blob too big: SQLITE_TOOBIG': 'rejected',
      'D1_ERROR: database disk image is malformed: SQLITE_CORRUPT': 'corrupt',
      'D1_ERROR: Network connection lost.': 'unknown',
      'D1_ERROR: internal error': 'unknown',
      'D1_ERROR: Internal error in D1 DB storage caused object to be reset.': 'unknown',
      'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.': 'unknown',
      'D1_ERROR: D1 DB reset because its code was updated.': 'unknown',
      "D1_ERROR: D1 DB's isolate exceeded its memory limit and was reset.": 'unknown',
      'D1_ERROR: no such table: statepad_meta: SQLITE_ERROR': 'unknown',
    };
    const answers = await host.ask({ store: 'd1', test: 'errors', messages: Object.keys(codes) });
    assert.deepEqual(answers, Object.values(codes));
  });

  it('reads and writes by its indexes alone', async () => {
    const plans = await host.ask({ store: 'd1', test: 'plans' });
    // Tables of ours have one-letter names there, or none of their own; what was sent and what was found has longer
    // ones.
    const scans = (statements) => statements.flat().filter((detail) => /\bSCAN (statepad_\w+|[a-z])\b/.test(detail));
    const scanning = Object.entries(plans).map(([name, statements]) => [name, scans(statements)]);
    assert.deepEqual(
      scanning.filter(([, found]) => found.length > 0),
      [],
    );
    const page = (name) => plans[name][0].join();
    assert.match(page('list of an app'), /USING INDEX statepad_sessions_of_app \(app=\?\)/);
    assert.match(page('list of a user'), /USING INDEX statepad_sessions_of_user \(app=\? AND user=\?\)/);
    assert.match(
      page('list of an app, behind a place'),
      /INDEX statepad_sessions_of_app \(app=\? AND \(time,id,user\)>\(/,
    );
    assert.match(
      plans['load, last 20'][2].join(),
      /statepad_events USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)/,
    );
  });
});

it('keeps everything over a restart of the host', async () => {
  const folder = temporaryFolder();
  const stores = [
    { store: 'd1', isKept: true },
    { store: 'object', object: 'kept' },
  ];
  const first = await startHost({ folder });
  for (const details of stores) {
    await first.ask({ ...details, test: 'begin' });
    await first.ask({ ...details, test: 'write', name: 'one', count: 20 });
  }
  await first.stop();
  const second = await startHost({ folder });
  try {
    for (const details of stores) {
      await second.ask({ ...details, test: 'write', name: 'two', count: 20 });
      const answer = await second.ask({ ...details, test: 'read' });
      assert.deepEqual(answer, { rev: 40, events: 40, ids: 40, pos: 40, names: 40 });
    }
  } finally {
    await second.stop();
  }
});

it('runs with the whole package in workerd', async () => {
  assert.deepEqual(await host.ask({ store: 'smoke' }), { 'user:name': 'Ana' });
});
