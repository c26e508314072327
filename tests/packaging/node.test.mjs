// The installed package in Node.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { conversation, expected, project, runNode } from './project.mjs';

/** Counts the instances of the package's module that are made from here on. */
const counting = `
  globalThis.instances = 0;
  const count = (instance) => {
    if ('__wbindgen_start' in instance.exports) globalThis.instances += 1;
    return instance;
  };
  WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
    construct: (target, args) => count(Reflect.construct(target, args)),
  });
  const instantiate = WebAssembly.instantiate;
  WebAssembly.instantiate = async (...args) => {
    const answer = await instantiate(...args);
    count(answer.instance ?? answer);
    return answer;
  };
`;

const files = {
  'conversation.js': conversation,
  'import.js': `
    import { converse } from './conversation.js';
    console.log(JSON.stringify(await converse()));
  `,
  'at-once.js': `
    import { Template } from 'statepad';
    console.log(JSON.stringify(new Template('Explain {topic}.').render({ state: { topic: 'tides' } })));
  `,
  'counting.cjs': counting,
  'both.cjs': `
    require('./counting.cjs');
    const required = require('statepad');
    const text = new required.Template('Explain {topic}.').render({ state: { topic: 'tides' } });
    import('statepad').then((imported) => {
      const names = Object.keys(imported).filter((name) => name !== 'module.exports');
      console.log(JSON.stringify({
        text,
        different: names.filter((name) => imported[name] !== required[name]),
        names: names.length,
        instances: globalThis.instances,
      }));
    });
  `,
  'with-adk.js': `
    import './counting.cjs';
    import { createRequire } from 'node:module';
    const { BaseSessionService } = await import('@google/adk');
    const { DELETED } = await import('statepad');
    const adk = createRequire(import.meta.url)('statepad/adk');
    const service = new adk.StatepadSessionService();
    const key = { appName: 'tutor', userId: 'ana', sessionId: 's1' };
    await service.createSession({ ...key, state: { 'user:name': 'Ana' } });
    const session = await service.getSession(key);
    console.log(JSON.stringify({
      sameMarker: adk.DELETED === DELETED,
      isService: service instanceof BaseSessionService,
      state: session.state,
      instances: globalThis.instances,
    }));
  `,
  'runner.cjs': `
    const { BaseLlm, LlmAgent, Runner } = require('@google/adk');
    const { StatepadSessionService, instruction } = require('statepad/adk');
    class Model extends BaseLlm {
      async *generateContentAsync({ config }) {
        this.instruction = config.systemInstruction;
        yield { content: { role: 'model', parts: [{ text: 'Twice a day.' }] } };
      }
    }
    (async () => {
      const model = new Model({ model: 'scripted' });
      const agent = new LlmAgent({ name: 'tutor', model, instruction: instruction('Explain {topic}.'), outputKey: 'answer' });
      const sessionService = new StatepadSessionService();
      const runner = new Runner({ appName: 'tutor', agent, sessionService });
      const key = { appName: 'tutor', userId: 'ana', sessionId: 's1' };
      await sessionService.createSession({ ...key, state: { topic: 'tides' } });
      for await (const event of runner.runAsync({ ...key, newMessage: { role: 'user', parts: [{ text: 'How often?' }] } })) void event;
      const { state, events } = await sessionService.getSession(key);
      console.log(JSON.stringify({ state, authors: events.map(({ author }) => author), instruction: model.instruction }));
    })();
  `,
  'without-adk.js': `
    import * as statepad from 'statepad';
    const { code } = await import('statepad/adk').catch((error) => error);
    console.log(JSON.stringify({ works: typeof statepad.SessionService, code }));
  `,
  'private.js': `
    const outcome = (name) => {
      try {
        return import.meta.resolve(name).replace(/.*\\/node_modules\\//, '');
      } catch ({ code }) {
        return code;
      }
    };
    console.log(JSON.stringify(['statepad/dist/wasm.js', 'statepad/wasm/statepad.js', 'statepad/package.json'].map(outcome)));
  `,
};

describe('installed in Node', () => {
  let folder;
  before(async () => {
    folder = await project(files);
  });

  it('is imported and used', async () => {
    assert.deepEqual(await runNode(folder, 'import.js'), expected);
  });

  it('may be called synchronously at once, without ready()', async () => {
    assert.equal(await runNode(folder, 'at-once.js'), 'Explain tides.');
  });

  it('is required, gives the same classes as import, and has one instance of the module', async () => {
    const { text, different, names, instances } = await runNode(folder, 'both.cjs');
    assert.equal(text, 'Explain tides.');
    assert.ok(names > 5);
    assert.deepEqual(different, []);
    assert.equal(instances, 1);
  });

  it('needs @google/adk for statepad/adk alone', async () => {
    assert.deepEqual(await runNode(folder, 'without-adk.js'), { works: 'function', code: 'ERR_MODULE_NOT_FOUND' });
  });

  it('shows its public names and hides the rest', async () => {
    const hidden = 'ERR_PACKAGE_PATH_NOT_EXPORTED';
    assert.deepEqual(await runNode(folder, 'private.js'), [hidden, hidden, 'statepad/package.json']);
  });

  describe('beside @google/adk', () => {
    let withAdk;
    before(async () => {
      withAdk = await project(files, { link: ['@google/adk'] });
    });

    it('serves it from the same instance of the module', async () => {
      assert.deepEqual(await runNode(withAdk, 'with-adk.js'), {
        sameMarker: true,
        isService: true,
        state: { 'user:name': 'Ana' },
        instances: 1,
      });
    });

    it('runs under a Runner that was required', async () => {
      const { state, authors, instruction } = await runNode(withAdk, 'runner.cjs');
      assert.deepEqual(state, { topic: 'tides', answer: 'Twice a day.' });
      assert.deepEqual(authors, ['user', 'tutor']);
      assert.match(instruction, /Explain tides\./);
    });
  });
});
