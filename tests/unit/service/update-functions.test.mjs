// The answers of an update function: a delta, a promise of one from anywhere, or nothing.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { SessionService, isStatepadError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY } from '../../support/fixtures.mjs';

const targets = { session: KEY, user: { appName: 'app', userId: 'u' }, app: { appName: 'app' } };
const places = { 'in memory': () => ({}), 'over a store': () => ({ store: memoryStore() }) };
const delta = { 'app:n': 1 };

class Thenable {
  then(resolve) {
    setTimeout(resolve, 1, delta);
  }
}
const callable = Object.assign(() => undefined, { then: (resolve) => resolve(delta) });

for (const [place, options] of Object.entries(places)) {
  describe(place, () => {
    for (const [what, target] of Object.entries(targets)) {
      const open = async () => {
        const service = new SessionService(options());
        await service.createSession(KEY);
        return service;
      };
      const awaited = {
        'a promise': async () => delta,
        'a promise of another realm': () => runInNewContext('Promise.resolve(delta)', { delta }),
        'the promise of an async function of another realm': runInNewContext('async () => ({ "app:n": 1 })'),
        'an instance of a class with a then': () => new Thenable(),
        'a function with a then': () => callable,
        'a plain object of another realm': () => runInNewContext('({ "app:n": 1 })'),
        'an object without a prototype': () => Object.assign(Object.create(null), delta),
      };
      for (const [name, fn] of Object.entries(awaited)) {
        test(`${name} is awaited, and what it gives is written: ${what}`, async () => {
          const service = await open();
          assert.equal((await service.updateState(target, fn))['app:n'], 1);
          assert.deepEqual(await service.getAppState(KEY), { n: 1 });
        });
      }

      test(`an answer that is no plain object is refused, and nothing is written: ${what}`, async () => {
        const service = await open();
        class Delta {
          'app:n' = 1;
        }
        const wrong = [
          null,
          0,
          1,
          '',
          'x',
          true,
          false,
          1n,
          Symbol('x'),
          [],
          [['app:n', 1]],
          () => delta,
          new Map([['app:n', 1]]),
          new Set(),
          new Delta(),
          new Date(0),
        ];
        for (const given of wrong) {
          for (const fn of [() => given, async () => given, () => ({ then: (resolve) => resolve(given) })]) {
            const refused = (error) =>
              isStatepadError(error) && error.code === 'INVALID_ARGUMENT' && /plain object/.test(error.message);
            await assert.rejects(service.updateState(target, fn), refused, String(given));
          }
        }
        assert.deepEqual(await service.getAppState(KEY), {});
        await service.updateState(target, () => undefined);
        await service.updateState(target, async () => undefined);
        await service.updateState(target, () => ({}));
        assert.equal((await service.getSession(KEY)).revision, 0);
      });

      test(`a symbol in the answer is refused: ${what}`, async () => {
        const service = await open();
        await assert.rejects(
          service.updateState(target, () => ({ [Symbol('n')]: 1 })),
          { code: 'VALUE_NOT_JSON' },
        );
      });
    }

    test('a promise class that takes the place of the global one, as under zone.js, changes nothing', async () => {
      const service = new SessionService(options());
      await service.createSession(KEY);
      const { Promise: before } = globalThis;
      globalThis.Promise = class Zone extends before {};
      try {
        await service.updateState(targets.user, (state) => ({ 'user:n': Number(state['user:n'] ?? 0) + 1 }));
        await service.updateState(KEY, async () => ({ 'user:m': 1 }));
      } finally {
        globalThis.Promise = before;
      }
      assert.deepEqual(await service.getUserState(KEY), { n: 1, m: 1 });
    });
  });
}

describe('a function that seems to change its argument in place', () => {
  /** The text that a program prints to standard error. */
  const warnings = (body, env = {}) => {
    const program = `import { SessionService } from 'statepad';
      const service = new SessionService();
      process.on('warning', ({ name, code, message }) => console.log([name, code, message].join(' ')));
      const sloppy = new Function('state', 'state.n = 1');
      const returning = new Function('state', 'state.n = 1; return state');
      ${body}`;
    const options = {
      encoding: 'utf8',
      cwd: import.meta.dirname,
      env: { ...process.env, NODE_ENV: '', ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    };
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], options);
    return printed.split('\n').filter((line) => line !== '');
  };
  const update = (fn) => `await service.updateState({ appName: 'a' }, ${fn});`;

  test('is told so in development, once', () => {
    for (const body of [
      update('sloppy') + update('sloppy') + update('() => undefined'),
      update('returning') + update('sloppy'),
    ]) {
      const [only, ...others] = warnings(body);
      assert.match(only, /^StatepadWarning STATEPAD_NO_DELTA an update function returned .*return \{ key: value \}/);
      assert.deepEqual(others, []);
    }
  });

  test('is told nothing in production, nor when it answers with what it means', () => {
    assert.deepEqual(warnings(update('sloppy') + update('returning'), { NODE_ENV: 'production' }), []);
    assert.deepEqual(
      warnings(update('() => ({})') + update("() => ({ 'app:n': 1 })") + update('async () => ({})')),
      [],
    );
  });
});
