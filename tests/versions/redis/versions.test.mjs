// The servers that the docs name: all are there, and are what they are called.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { whyNoRedisServer } from '../../support/redis.mjs';
import { assertSays } from '../suites.mjs';
import { oldest, other, skip } from './installed.mjs';

const versionOf = (program) => /v=(\d+\.\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))[1];

for (const { name, program } of [oldest, other]) {
  test(`${name} is a server of this version`, { skip }, () =>
    assert.equal(versionOf(program), name.split(' ').at(-1)),
  );
}

// A developer may have any version.
test('the docs name the servers that are tested', { skip: whyNoRedisServer() ?? !process.env.CI }, () =>
  assertSays('docs/stores.md', `${oldest.name} and ${versionOf('redis-server')}, ${other.name}`),
);
