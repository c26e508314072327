// The packages of clients: found from the user's folder, and named with the line that installs them where they are
// missing. The connection to Postgres that listens, which comes back.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { installedDriver, PostgresListening } = await source(
  'cli/stores/drivers.ts',
  'cli/stores/postgres-listening.ts',
);

const folder = mkdtempSync(join(tmpdir(), 'statepad-drivers-'));
after(() => rmSync(folder, { recursive: true }));
const project = join(folder, 'project', 'deep');
mkdirSync(project, { recursive: true });
const PACKAGES = {
  'of-require': ['index.cjs', 'module.exports = { Pool: class {} };'],
  'of-import': ['index.mjs', 'export class Pool {}'],
  broken: ['index.cjs', "throw new Error('no binary');"],
};
for (const [name, [file, text]] of Object.entries(PACKAGES)) {
  const at = join(folder, 'project', 'node_modules', name);
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'package.json'), JSON.stringify({ name, main: file }));
  writeFileSync(join(at, file), text);
}

describe('a driver', () => {
  for (const name of ['of-require', 'of-import']) {
    it(`that is ${name} is found above the folder of the user, with its exports`, async () => {
      const driver = await installedDriver(project, 'Postgres', [{ name: 'nowhere' }, { name }]);
      assert.equal(driver.name, name);
      assert.equal(typeof driver.member('Pool'), 'function');
      assert.equal(driver.member('Client'), undefined);
    });
  }

  it('that is missing is named, with the line that installs it', () =>
    assert.rejects(installedDriver(project, 'Redis', [{ name: 'nowhere', version: '5' }, { name: 'elsewhere' }]), {
      code: 1,
      message: `Redis needs the package nowhere or elsewhere, which is not installed in ${project}: npm install nowhere@5`,
    }));

  it('that cannot be loaded is named, with the reason', () =>
    assert.rejects(installedDriver(project, 'Redis', [{ name: 'broken' }]), (error) => {
      assert.equal(error.message, 'the package broken cannot be loaded');
      assert.equal(error.cause.message, 'no binary');
      return true;
    }));
});

/** A client that a test connects and breaks. */
class Client extends EventEmitter {
  queries = [];
  ended = false;
  constructor(refusal) {
    super();
    this.refusal = refusal;
  }
  async connect() {
    if (this.refusal) throw this.refusal;
  }
  async query(text) {
    this.queries.push(text);
    this.emit('queried', text);
  }
  async end() {
    this.ended = true;
  }
}

describe('a connection that listens', () => {
  /** Listens by clients, one after the other, each announced when it is made. */
  function listeningBy(clients) {
    const made = new EventEmitter();
    const errors = [];
    const left = [...clients];
    const listening = new PostgresListening(
      () => {
        made.emit('made', left[0]);
        return left.shift();
      },
      (error) => errors.push(error.message),
    );
    return { listening, made, errors };
  }

  it('passes on what it hears', async () => {
    const client = new Client();
    const { listening } = listeningBy([client]);
    await listening.begin();
    const heard = [];
    const listener = (message) => heard.push(message.payload);
    listening.on('notification', listener);
    await listening.query('listen "a"');
    client.emit('notification', { channel: 'a', payload: '1' });
    listening.removeListener('notification', listener);
    client.emit('notification', { channel: 'a', payload: '2' });
    assert.deepEqual([client.queries, heard], [['listen "a"'], ['1']]);
    await listening.close();
    assert.ok(client.ended);
  });

  it('is made again when it breaks, also after failures, and listens to the same', async () => {
    const [first, refusing, second] = [new Client(), new Client(new Error('refused')), new Client()];
    const { listening, errors } = listeningBy([first, refusing, second]);
    await listening.begin();
    await listening.query('listen "a"');
    await listening.query('listen "b"');
    await listening.query('unlisten "a"');
    const heard = [];
    listening.on('notification', ({ payload }) => heard.push(payload));
    const isBack = once(second, 'queried');
    first.emit('error', new Error('the server went away'));
    first.emit('error', new Error('once more'));
    first.emit('end');
    await isBack;
    second.emit('notification', { channel: 'b', payload: '1' });
    assert.deepEqual([second.queries, heard, errors], [['listen "b"'], ['1'], ['the server went away']]);
    await listening.close();
    assert.ok(second.ended);
  });

  it('is made again when the server ends it without an error', async () => {
    const [first, second] = [new Client(), new Client()];
    const { listening, made, errors } = listeningBy([first, second]);
    await listening.begin();
    const isMade = once(made, 'made');
    first.emit('end');
    await isMade;
    assert.deepEqual(errors, ['postgres has ended the connection that listens']);
    await listening.close();
  });

  it('throws when it cannot begin, and is not made again once it is closed', async () => {
    const { listening } = listeningBy([new Client(new Error('refused'))]);
    await assert.rejects(listening.begin(), { message: 'refused' });
    const client = new Client();
    const { listening: closed, errors } = listeningBy([client]);
    await closed.begin();
    await closed.close();
    client.emit('end');
    assert.deepEqual(errors, []);
  });
});
