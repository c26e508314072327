// The message of an error when a program has two services where it should have one.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SessionService } from 'statepad';

const ids = { appName: 'elsewhere', userId: 'ana', sessionId: 's1' };
const event = { author: 'ana' };

/** The message of an error of a code that a promise rejects with. */
async function messageOf(code, promise) {
  const error = await promise.then(
    () => assert.fail('it resolves'),
    (reason) => reason,
  );
  assert.equal(error.code, code);
  return error.message;
}

let copy;
let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'statepad-copy-'));
  for (const name of ['dist', 'wasm', 'package.json']) {
    cpSync(new URL(`../../../pkg/${name}`, import.meta.url), join(folder, name), { recursive: true });
  }
  copy = await import(pathToFileURL(join(folder, 'dist', 'index.js')).href);
  assert.notEqual(copy.SessionService, SessionService);
});
after(() => rmSync(folder, { recursive: true }));

const OTHER = /^session "s1" not found in this service: it is one of another service of this process\. .* globalThis$/;
const COPY = /^session "s1" not found in this service: it is one of a service of another copy of statepad\. /;

test('a handle of another service', async () => {
  const [one, other] = [new SessionService(), new SessionService()];
  const session = await one.createSession(ids);
  await other.getAppState({ appName: 'elsewhere' });
  assert.match(await messageOf('SESSION_NOT_FOUND', other.appendEvent({ session, event })), OTHER);
  assert.match(await messageOf('SESSION_NOT_FOUND', other.stateAt(session, 0)), OTHER);
  assert.throws(() => other.invocation(session), {
    code: 'INVALID_ARGUMENT',
    path: 'session',
    message: /^session must be a handle of this service; this one is of another service of this process\. /,
  });
});

test('a handle of another copy of the package', async () => {
  const [one, other] = [new copy.SessionService(), new SessionService()];
  const session = await one.createSession(ids);
  await other.getAppState({ appName: 'elsewhere' });
  assert.match(await messageOf('SESSION_NOT_FOUND', other.appendEvent({ session, event })), COPY);
  assert.throws(() => other.invocation(session), {
    code: 'INVALID_ARGUMENT',
    message: /^session must be a handle of this service; this one is of a service of another copy of statepad\. /,
  });
});

test('the names of a session that another service in memory has, also one of another copy', async () => {
  for (const { SessionService: Service } of [{ SessionService }, copy]) {
    const [one, other] = [new Service(), new SessionService()];
    const { id, appName, userId } = await one.createSession({ ...ids, sessionId: 'named' });
    const named = { id, appName, userId };
    assert.match(
      await messageOf('SESSION_NOT_FOUND', other.appendEvent({ session: named, event })),
      /another service/,
    );
    const update = other.updateState({ appName, userId, sessionId: id }, () => ({ n: 1 }));
    assert.match(await messageOf('SESSION_NOT_FOUND', update), /another service/);
    await one.deleteSession({ ...ids, sessionId: 'named' });
    const plain = await messageOf('SESSION_NOT_FOUND', other.appendEvent({ session: named, event }));
    assert.equal(plain, 'session "named" not found');
  }
});

test('anything else says no more than it is', async () => {
  const service = new SessionService();
  await service.getAppState({ appName: 'elsewhere' });
  assert.throws(() => service.invocation({ ...ids }), {
    message: 'session must be a handle of this service',
  });
});

test('services that are gone are not remembered for ever', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  for (let n = 0; n < 1000; n += 1) {
    await new SessionService().getAppState({ appName: 'elsewhere' });
    if (n % 50 === 0) {
      // References are kept until the job ends in which they were made.
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
  }
  assert.ok(globalThis[Symbol.for('statepad.servicesInMemory')].refs.length < 250);
});
