// Templates, where JavaScript has more to say than the cases.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { DELETED, SessionService, State, Template, injectSessionState, outputDelta, outputDeltaAsync } from 'statepad';
import { hasCode } from '../../support/fixtures.mjs';

test('a text with lone surrogates is a text: it is rendered, and escaped', () => {
  for (const text of ['\ud800', 'a\udc00{n}', '\ud83d{n}\ude00', '{\ud800}', '\\{n}\udfff{n}']) {
    assert.equal(new Template(Template.escape(text)).render({ state: {} }), text);
  }
  assert.equal(new Template('\ud800{n}\udc00{n}').render({ state: { n: '\ud800' } }), '\ud800\ud800\udc00\ud800');
});

test('a template and its placeholders cannot be changed', () => {
  const template = new Template('{a.b[0]?}');
  assert.equal(template.text, '{a.b[0]?}');
  assert.throws(() => template.placeholders.push({}), TypeError);
  assert.throws(() => (template.placeholders[0].key = 'x'), TypeError);
  assert.throws(() => template.placeholders[0].path.push('x'), TypeError);
});

test('a template is rendered many times with many states', () => {
  const template = new Template('{a}{b?}');
  assert.deepEqual(
    [{ a: 1 }, { a: 2, b: 3 }, { a: null }].map((state) => template.render({ state })),
    ['1', '23', ''],
  );
});

test('what is no text is no template', () => {
  for (const text of [undefined, null, 1, {}, ['x'], Symbol('x')]) {
    assert.throws(() => new Template(text), hasCode('INVALID_ARGUMENT'));
  }
});

test('members that are undefined are missing', () => {
  const template = new Template('[{a?}{b.c?}]');
  assert.equal(template.render({ state: { a: undefined, b: { c: undefined } } }), '[]');
  assert.throws(() => new Template('{a}').render({ state: { a: undefined } }), hasCode('TEMPLATE_KEY_MISSING'));
});

test('a value that is no JSON is an error of statepad', () => {
  const cycle = {};
  cycle.cycle = cycle;
  for (const value of [() => 1, Symbol('x'), 1n, [1n], cycle]) {
    assert.throws(() => new Template('{a}').render({ state: { a: value } }), hasCode('VALUE_NOT_JSON'));
  }
});

test('a synchronous rendering takes no promise for an artifact', () => {
  const template = new Template('{artifact.f}');
  assert.throws(() => template.render({ state: {}, artifact: async () => 'x' }), hasCode('INVALID_ARGUMENT'));
});

test('what the resolver throws comes through', async () => {
  const template = new Template('{artifact.f?}');
  const artifact = () => {
    throw new RangeError('no');
  };
  assert.throws(() => template.render({ state: {}, artifact }), RangeError);
  await assert.rejects(template.renderAsync({ state: {}, artifact }), RangeError);
});

test('artifacts are asked for all at once', async () => {
  let open = 0;
  let most = 0;
  const artifact = async (name) => {
    most = Math.max(most, ++open);
    await new Promise((done) => setImmediate(done));
    open -= 1;
    return name;
  };
  assert.equal(await new Template('{artifact.a}{artifact.b}{artifact.c}').renderAsync({ state: {}, artifact }), 'abc');
  assert.equal(most, 3);
});

test("a session's state, a State and a plain record are all states", async () => {
  const session = await new SessionService().createSession({
    appName: 'a',
    userId: 'u',
    state: { x: 1, 'user:y': { z: 2 } },
  });
  assert.equal(new Template('{x}{user:y.z}').render({ state: session.state }), '12');
  const state = new State(session.state);
  state.set('x', 5);
  state.delete('user:y');
  assert.equal(await injectSessionState('{x}[{user:y.z?}]', { state }), '5[]');
  assert.equal(
    await injectSessionState('{toRecord}', { state: { toRecord: 'a key like any other' } }),
    'a key like any other',
  );
});

test('an answer of a schema that takes time is waited for, or refused', async () => {
  const outputSchema = { '~standard': { version: 1, vendor: 't', validate: async (value) => ({ value: [value] }) } };
  const event = { author: 'a', content: { parts: [{ text: '1' }] } };
  assert.deepEqual(await outputDeltaAsync(event, { outputKey: 'k', outputSchema }), { k: [1] });
  assert.throws(() => outputDelta(event, { outputKey: 'k', outputSchema }), hasCode('INVALID_ARGUMENT'));
});

test('an answer of a schema is waited for, whatever kind of promise it is', async () => {
  const event = { author: 'a', content: { parts: [{ text: '1' }] } };
  const kinds = {
    'a thenable': (value) => ({ then: (resolve) => resolve({ value: [value] }) }),
    'a thenable function': (value) =>
      Object.assign(() => undefined, { then: (resolve) => resolve({ value: [value] }) }),
    'a promise of another realm': (value) => runInNewContext('(value) => Promise.resolve(value)')({ value: [value] }),
  };
  for (const [kind, validate] of Object.entries(kinds)) {
    const options = { outputKey: 'k', outputSchema: { '~standard': { version: 1, vendor: 't', validate } } };
    assert.deepEqual(await outputDeltaAsync(event, options), { k: [1] }, kind);
    assert.throws(() => outputDelta(event, options), hasCode('INVALID_ARGUMENT'), kind);
  }
});

test('what is no event, no key and no schema is told as such', async () => {
  const event = { author: 'a', content: { parts: [{ text: '1' }] } };
  const schema = (answer) => ({ '~standard': { version: 1, vendor: 't', validate: () => answer } });
  const wrong = [
    [null, { outputKey: 'k' }],
    [undefined, { outputKey: 'k' }],
    ['text', { outputKey: 'k' }],
    [[], { outputKey: 'k' }],
    [event, null],
    [event, undefined],
    [event, {}],
    [event, { outputKey: 1 }],
    [event, { outputKey: '\ud800' }],
    [event, { outputKey: 'k', outputSchema: null }],
    [event, { outputKey: 'k', outputSchema: {} }],
    [event, { outputKey: 'k', outputSchema: 1 }],
    [event, { outputKey: 'k', outputSchema: schema(undefined) }],
    [event, { outputKey: 'k', outputSchema: schema(null) }],
    [{ content: { parts: [null] } }, { outputKey: 'k' }],
  ];
  for (const [given, options] of wrong) {
    assert.throws(() => outputDelta(given, options), hasCode('INVALID_ARGUMENT'), JSON.stringify([given, options]));
    await assert.rejects(
      outputDeltaAsync(given, options),
      hasCode('INVALID_ARGUMENT'),
      JSON.stringify([given, options]),
    );
  }
});

test('an answer of very many blanks in an open fence comes to an end', () => {
  const outputSchema = { '~standard': { version: 1, vendor: 't', validate: (value) => ({ value }) } };
  for (const blank of ['\n', ' ', '\n ']) {
    const text = `\`\`\`json\n${blank.repeat(20_000)}x`;
    const event = { author: 'a', content: { parts: [{ text }] } };
    assert.deepEqual(outputDelta(event, { outputKey: 'k', outputSchema }), { k: text });
  }
});

test('texts that are rendered in turn, more than are remembered, each render as themselves', async () => {
  const texts = Array.from({ length: 200 }, (_, number) => `${number}: {a}{b${number}?}`);
  // In turn, then the same one again and again: what was compiled is used again in both.
  for (const text of [...texts, ...texts, ...Array.from({ length: 100 }, () => texts[7])]) {
    const number = texts.indexOf(text);
    assert.equal(
      await injectSessionState(text, { state: { a: 'x', [`b${number}`]: number } }),
      `${number}: x${number}`,
    );
    await assert.rejects(injectSessionState(text, { state: {} }), hasCode('TEMPLATE_KEY_MISSING'));
  }
});

test('texts of one length that differ in one place, wherever that is, each render as themselves', async () => {
  const length = 1_000;
  // Every other text differs from the one before in one character, and all come twice.
  for (let place = 0; place < length; place += 7) {
    const texts = ['x', 'y'].map((letter) => `${'-'.repeat(place)}${letter}${'-'.repeat(length - place)}{a}`);
    for (const text of [...texts, ...texts, ...texts]) {
      assert.equal(await injectSessionState(text, { state: { a: 1 } }), text.replace('{a}', '1'));
    }
  }
});

test('a key whose deletion waits for its event is missing, and no suggestion', () => {
  const state = { name: DELETED, a: { b: 1 }, 'a.b': DELETED };
  assert.throws(
    () => new Template('{nane}{name}').render({ state }),
    ({ code, missing }) => {
      assert.deepEqual(
        missing.map(({ key, nearest }) => [key, nearest]),
        [
          ['nane', undefined],
          ['name', undefined],
        ],
      );
      return code === 'TEMPLATE_KEY_MISSING';
    },
  );
  assert.equal(new Template('{name?}{a.b}').render({ state }), '1');
});
