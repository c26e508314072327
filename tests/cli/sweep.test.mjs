// `statepad sweep`: what it says that it would remove, what it removes, and what it refuses.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { fileJournal } from 'statepad/stores/journal';
import { sqliteStore } from 'statepad/stores/sqlite';
import { runs, started } from './process.mjs';
import { testFolder } from './stored.mjs';

const folder = testFolder();
const TOKENS = { keeper: 'k'.repeat(32), shop: 's'.repeat(32), writer: 'w'.repeat(32) };
const TOKEN_FILE = join(folder, 'tokens.txt');
writeFileSync(TOKEN_FILE, `${TOKENS.keeper}\n${TOKENS.shop} apps=shop users= may=sweep\n${TOKENS.writer} may=\n`, {
  mode: 0o600,
});

/** Five sessions, of which three have expired: two of one app, and one of another. */
async function fill(store) {
  const service = new SessionService({ store });
  const create = async (appName, sessionId, end) =>
    await service.createSession({ appName, userId: 'ana', sessionId, state: { 'user:name': 'Ana' }, ...end });
  const gone = [
    await create('shop', 'one', { ttl: 1 }),
    await create('shop', 'two', { expireTime: Date.now() + 20 }),
    await create('tutor', 'three', { ttl: 1 }),
  ];
  await create('shop', 'stays', {});
  await create('tutor', 'later', { ttl: 3_600_000 });
  for (const session of gone) await isOver(async () => (await service.getSession(session)) === undefined);
  await service.close();
}

/** Resolves when something has come about, and fails after ten seconds. */
async function isOver(look) {
  for (let time = 0; !(await look()); time++) {
    assert.ok(time < 2_000, 'it does not end');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const STORES = {
  'an SQLite file': (name) => [join(folder, `${name}.db`), sqliteStore(join(folder, `${name}.db`))],
  'a journal': (name) => [`journal:${join(folder, `${name}.log`)}`, fileJournal(join(folder, `${name}.log`))],
};

/** The address of a store that is filled. */
async function filled(kind, name) {
  const [address, store] = STORES[kind](name);
  await fill(store);
  return address;
}

const swept = async (args, env) => {
  const { code, out, err } = await runs(['sweep', ...args], { cwd: folder, env });
  assert.deepEqual([code, err], [0, ''], out);
  return out.trim();
};

for (const kind of Object.keys(STORES)) {
  describe(`statepad sweep of ${kind}`, () => {
    it('says what it would remove, as often as it is asked, and then removes it', async () => {
      const address = await filled(kind, 'all');
      for (let time = 0; time < 2; time++) {
        assert.match(await swept([address, '--dry-run']), /: 3 sessions would be removed$/);
      }
      assert.match(await swept([address, '--dry-run', '--app', 'shop']), /: 2 sessions would be removed$/);
      assert.match(await swept([address]), /: 3 sessions were removed$/);
      assert.match(await swept([address]), /: 0 sessions were removed$/);
      const { out } = await runs(['show', address, '*', '*', '*', '--json']);
      const left = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual(left.map(({ id }) => id).sort(), ['later', 'stays']);
      assert.ok(left.find(({ id }) => id === 'later').expireTime > Date.now());
      assert.equal(left.find(({ id }) => id === 'stays').expireTime, undefined);
    });

    it('removes what belongs to an app, and no more than a limit', async () => {
      const address = await filled(kind, 'some');
      const numbers = { kind: 'swept', store: address, sessions: 1, users: 0, dryRun: false };
      assert.deepEqual(JSON.parse(await swept([address, '--json', '--limit', '1', '--app', 'shop'])), numbers);
      assert.match(await swept([address, '--app', 'tutor']), /: 1 session was removed$/);
      assert.match(await swept([address]), /: 1 session was removed$/);
    });

    it('removes the values of users who have no session, if it is told so', async () => {
      const address = await filled(kind, 'users');
      await swept([address]);
      const [, store] = STORES[kind]('users');
      const service = new SessionService({ store });
      await service.updateState({ appName: 'shop', userId: 'cleo' }, () => ({ 'user:name': 'Cleo' }));
      await service.close();
      assert.match(await swept([address, '--user-ttl', '1h']), /: 0 sessions were removed$/);
      assert.match(await swept([address, '--user-ttl', '0.001s']), /and the values of 1 user were removed$/);
    });
  });
}

describe('statepad sweep of a server', () => {
  it('asks the server, with a token that has the right', async () => {
    const address = await filled('an SQLite file', 'served');
    const server = await started(['serve', address, '--port', '0', '--token-file', TOKEN_FILE, '--quiet']);
    const refused = await runs(['sweep', server.url], { env: { STATEPAD_TOKEN: TOKENS.writer } });
    assert.deepEqual([refused.code, refused.out], [1, '']);
    assert.match(refused.err, /the token may not sweep: .*may=sweep/);
    const all = await runs(['sweep', server.url], { env: { STATEPAD_TOKEN: TOKENS.shop } });
    assert.deepEqual([all.code, /may not sweep/.test(all.err)], [1, true]);
    const shop = { STATEPAD_TOKEN: TOKENS.shop };
    assert.match(await swept([server.url, '--app', 'shop', '--dry-run'], shop), /: 2 sessions would be removed$/);
    assert.match(await swept([server.url, '--app', 'shop'], shop), /: 2 sessions were removed$/);
    assert.match(await swept([server.url], { STATEPAD_TOKEN: TOKENS.keeper }), /: 1 session was removed$/);
    assert.equal((await server.stop()).code, 0);
  });

  it('is not needed where the server sweeps by itself, and lets sessions expire', async () => {
    const path = join(folder, 'by-itself.db');
    const options = ['--ttl', '0.05s', '--sweep-every', '0.02s', '--limit', 'value=100', '--limit', 'events=2'];
    const server = await started(['serve', path, '--port', '0', '--token-file', TOKEN_FILE, '--quiet', ...options]);
    const { connect } = await import('statepad/client');
    const client = connect({ url: server.url, token: TOKENS.keeper });
    const session = await client.createSession({ appName: 'shop', userId: 'ana', ttl: Infinity });
    const large = client.appendEvent({ session, event: { actions: { stateDelta: { text: 'x'.repeat(99) } } } });
    await assert.rejects(large, (error) => {
      const { code, status, exceeded, key, size, limit } = error;
      assert.deepEqual([code, status], ['LIMIT_EXCEEDED', 413], String(error));
      assert.deepEqual({ exceeded, key, size, limit }, { exceeded: 'value', key: 'text', size: 101, limit: 100 });
      return true;
    });
    const passing = await client.createSession({ appName: 'shop', userId: 'ana' });
    assert.ok(passing.expireTime > 0);
    await isOver(async () => (await client.getSession(passing)) === undefined);
    assert.equal((await client.getSession(session)).expireTime, undefined);
    const counted = async () => await client.sweep({ dryRun: true });
    await isOver(async () => (await counted()).sessions === 0);
    await client.close();
    assert.equal((await server.stop()).code, 0);
  });
});

describe('statepad sweep', () => {
  it('refuses what cannot be swept', async () => {
    const refusals = [
      [['sessions.jsonl'], 2, /JSON lines are only read/],
      [['http://127.0.0.1:1', '--user-ttl', '3d'], 2, /--user-ttl is for a store/],
      [['memory:', '--user-ttl', 'soon'], 2, /--user-ttl takes a duration/],
      [['memory:', '--limit', '0'], 2, /--limit must be a whole number from 1/],
      [[join(folder, 'missing.db')], 1, /cannot be opened/],
    ];
    for (const [args, code, message] of refusals) {
      const ended = await runs(['sweep', ...args], { cwd: folder });
      assert.deepEqual([ended.code, ended.out], [code, ''], args.join(' '));
      assert.match(ended.err, message);
    }
  });

  it('of serve refuses limits and durations that it cannot read', async () => {
    for (const [args, message] of [
      [['--limit', 'size=1'], /--limit takes one of value=, delta=/],
      [['--limit', 'value=big'], /--limit value= takes a number of bytes/],
      [['--limit', 'keys=1MiB'], /--limit keys= takes a whole number from 1, or none/],
      [['--limit', 'keys=1', '--limit', 'keys=2'], /--limit keys= is given twice/],
      [['--ttl', '5'], /--ttl takes a duration/],
      [['--sweep-every', '1y'], /--sweep-every takes a duration/],
    ]) {
      const { code, err } = await runs(['serve', 'memory:', '--port', '0', ...args]);
      assert.equal(code, 2, args.join(' '));
      assert.match(err, message);
    }
  });
});
