// The cases of tests/cases/vertex.json, held against the fake, in both versions of the API.

import { describe, test } from 'node:test';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { casesOf } from '../../contract/read.mjs';
import { randomFrom } from '../../support/random.js';
import { asker, ENGINE, LOCATION, PROJECTS, SESSIONS } from '../ask.mjs';
import { BEGIN, runCase } from '../cases.mjs';

for (const version of ['v1beta1', 'v1']) {
  describe(`the fake, asked as ${version},`, () => {
    for (const { name, steps } of casesOf('vertex').cases) {
      test(name, async () => {
        let now = BEGIN;
        const vertex = fakeVertexAi({ now: () => now, random: randomFrom(7), projects: PROJECTS });
        const server = {
          ask: asker(vertex, { version }),
          names: { sessions: SESSIONS, location: LOCATION, asked: ENGINE },
          wait: (milliseconds) => (now += milliseconds),
          disturb: (trouble) => vertex.disturb(trouble),
        };
        await runCase(steps, server, version);
      });
    }
  });
}
