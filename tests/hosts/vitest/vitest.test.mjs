// The package in Vitest: in Node and in jsdom.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { expected } from '../../packaging/project.mjs';
import { filesOf, hostOf } from '../host.mjs';
import { seenBy, works } from '../matrix.mjs';

const files = {
  ...filesOf('Vitest'),
  'whole.test.js': `
    import { SessionService } from 'statepad';
    import { memoryStore } from 'statepad/stores/memory';
    import { expect, test } from 'vitest';
    import { converse } from './conversation.js';
    test('converses', async () => {
      expect(await converse()).toStrictEqual(${JSON.stringify(expected)});
    });
    test('has a store', async () => {
      const service = new SessionService({ store: memoryStore() });
      const session = await service.createSession({ appName: 'tutor', userId: 'ana', state: { topic: 'tides' } });
      expect(session.state).toStrictEqual({ topic: 'tides' });
    });
    test('is where it should be', () => expect(typeof document).toBe(process.env.HAS_DOCUMENT));
  `,
};

describe('Vitest', () => {
  const seen = seenBy('vitest');
  let host;
  before(async () => {
    host = await hostOf('vitest', files);
  });

  for (const [row, command, HAS_DOCUMENT] of [
    ['Vitest', 'npx vitest run', 'undefined'],
    ['Vitest, jsdom', 'npx vitest run --environment jsdom', 'object'],
  ]) {
    it(`runs ${command}`, async () => {
      assert.match(await host.printed(command, { env: { HAS_DOCUMENT } }), /Tests +4 passed \(4\)/);
      seen.saw(row, works());
    });
  }

  it('is what docs/hosts.md says', () => seen.check());
});
