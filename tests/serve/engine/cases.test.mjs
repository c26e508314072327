// The cases of the API in tests/cases/vertex.json, asked of this server over a service in memory and over a store.

import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { casesOf } from '../../contract/read.mjs';
import { BEGIN, runCase } from '../../vertex/cases.mjs';
import { NAMES, openServer } from './server.mjs';
import { CASES } from './differences.mjs';

const { cases } = casesOf('vertex');
const PLACES = { 'a service in memory': () => ({}), 'a store in memory': () => ({ store: memoryStore() }) };

for (const [place, optionsOf] of Object.entries(PLACES)) {
  for (const version of ['v1beta1', 'v1']) {
    describe(`the server over ${place}, asked as ${version},`, () => {
      for (const { name, steps } of cases) {
        const meant = CASES.find((line) => line.name === name && (line.versions ?? [version]).includes(version));
        test(meant === undefined ? name : `differs: ${name}`, async () => {
          const running = run(steps, version, optionsOf());
          await (meant === undefined ? running : assert.rejects(running, { message: meant.fails }));
        });
      }
    });
  }
}

test('every difference has a reason, and a case that it differs from', () => {
  const names = new Set(cases.map(({ name }) => name));
  for (const { name, reason } of CASES) {
    assert.ok(names.has(name), name);
    assert.ok(reason.length > 20, name);
  }
});

async function run(steps, version, options) {
  // A microsecond later at every look, so that no two times are equal. A store has the time from the host.
  let time = BEGIN;
  const host = mock.method(Date, 'now', () => Math.floor(time));
  const { service, ask } = openServer({
    version,
    service: new SessionService({ ...options, now: () => (time += 0.001) }),
  });
  const server = {
    ask,
    names: NAMES,
    wait: (milliseconds) => (time += milliseconds),
    // Operations of this server are never undone.
    disturb: () => undefined,
  };
  try {
    await runCase(steps, server, version);
  } finally {
    await service.close();
    host.mock.restore();
  }
}
