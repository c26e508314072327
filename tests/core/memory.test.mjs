// A module whose memory is full, or that has failed in the middle of a call. Each scenario in a process of its own, as
// there is one module a process.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';

/** The memory of the module: a host may give so little, and a test would never fill more. */
const MEMORY = 64 << 20;

function run(scenario) {
  const child = new URL('small-child.mjs', import.meta.url).pathname;
  return new Promise((resolve) => {
    const started = spawn(process.execPath, [child, scenario], {
      env: { ...process.env, STATEPAD_TEST_MEMORY: String(MEMORY) },
    });
    let output = '';
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    }
    started.on('close', (code) => resolve({ code, output }));
  });
}

const told = {
  state: 'sessions with long keys are refused when they do not fit, and deleting makes room',
  small: 'many small sessions of many users are refused when they do not fit, and all can be deleted',
  events: 'an append that does not fit changes nothing, and what others give back can be used',
  ids: 'a session of very many events takes them until they do not fit',
  strings: 'names and keys that are too long for the module are refused one by one',
  templates: 'a template that does not fit is refused, and those that fit are rendered',
  services: 'services of one module share its memory, and one that is full leaves the other as it is',
  stored: 'services over a store read what is there as it is, or not at all',
  random: 'in any order of operations each is done or refused, and never half',
  trap: 'when the module has failed every service says so at once',
};
for (const [scenario, name] of Object.entries(told)) {
  test(name, async () => {
    const { code, output } = await run(scenario);
    assert.equal(code, 0, output);
    assert.match(output, /done\n$/);
  });
}
