// statepad/jsonl: files that were made to keep the reader busy, or to break it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLines } from 'statepad/jsonl';
import { eventLine, header, key, scopeLine, sessionLine } from './lines.mjs';

/** Lists in lists: `levels` of them. */
const nested = (levels) => '['.repeat(levels) + ']'.repeat(levels);

/** The number of characters that are parsed as JSON while a task goes on. */
async function parsedBy(task) {
  const { parse } = JSON;
  let count = 0;
  JSON.parse = (text, ...rest) => {
    count += text.length;
    return parse(text, ...rest);
  };
  try {
    await task();
  } finally {
    JSON.parse = parse;
  }
  return count;
}

/** One line in many pieces, each of which looks as if an object ended with it and another one began behind it. */
function inPieces(begin, end, count) {
  return [begin, ...Array.from({ length: count }, (_, index) => `{"n":${index},"text":"${'x'.repeat(80)}"}`), end];
}

test('each character of a line is parsed once, however the line is cut', async () => {
  const objects = inPieces(`{"kind":"event","event":{"id":"e","timestamp":1,"text":["`, '"]}}', 3_000).map((piece) =>
    piece.startsWith('{"n"') ? piece.replaceAll('"', '\\"') : piece,
  );
  const length = objects.join('').length;
  const input = [`${header}\n${sessionLine()}\n`, ...objects];
  let opened;
  assert.ok((await parsedBy(async () => (opened = await openLines(input)))) < 3 * length);
  assert.equal(
    (await opened.service.getSession(key)).events[0].text[0].length,
    objects.slice(1, -1).join('').replaceAll('\\', '').length,
  );

  const broken = inPieces('{"kind":"event","event":[', '', 3_000);
  const parsed = await parsedBy(async () => {
    await assert.rejects(openLines([`${sessionLine()}\n`, ...broken]), { code: 'INVALID_ARGUMENT', line: 2 });
  });
  assert.ok(parsed < 3 * broken.join('').length);
});

test('a line that is nested too deep is named, whatever it is and however deep; the others are read', async () => {
  const deep = nested(200_000);
  for (const line of [
    deep,
    '['.repeat(200_000),
    '{"a":'.repeat(200_000),
    sessionLine({ id: 't', state: { a: 0 } }).replace('0}', `${deep}}`),
    eventLine('d', { a: 'here' }).replace('"here"', deep),
    scopeLine({ a: 'here' }).replace('"here"', deep),
    `{"kind":${deep}}`,
    `{"kind":"statepad","version":${deep}}`,
    `{"id":"t","appName":"a","userId":"u","state":{},"events":${deep}}`,
    `{"kind":"session","id":${deep}}`,
  ]) {
    const reason = 'the line is nested deeper than 110 levels';
    const whole = [header, sessionLine(), line, eventLine('e'), 'x'].join('\n');
    const pieces = whole.match(/[^]{1,1000}/g);
    for (const input of [whole, pieces]) {
      await assert.rejects(openLines(input), ({ code, message, problems }) => {
        assert.deepEqual([code, message], ['INVALID_ARGUMENT', `line 3: ${reason}`], line.slice(0, 80));
        assert.deepEqual(
          problems.map((problem) => problem.line),
          [3, 5],
        );
        return true;
      });
    }
  }
});

test('what is nested as deep as a value may be is read wherever it stands, and one level more is told by its place', async () => {
  const most = nested(100);
  const dump = (value) =>
    `{"id":"t","appName":"a","userId":"u","state":{"b":${value}},` +
    `"events":[{"id":"x","timestamp":1,"content":${value},"actions":{"stateDelta":{"a":${value}}}}]}`;
  const lines = (value) => [
    sessionLine({ state: { a: 'here' } }),
    eventLine('e', { a: 'here' }),
    scopeLine({ a: 'here' }),
    dump(value),
  ];
  const text = lines(most).join('\n').replaceAll('"here"', most);
  const { sessions, events } = await openLines(text);
  assert.deepEqual([sessions.length, events], [2, 2]);
  const tooDeep = lines(nested(101));
  for (const [index, line] of tooDeep.entries()) {
    const broken = [sessionLine({ id: 'other' }), line.replace('"here"', nested(101))].join('\n');
    await assert.rejects(openLines(broken), { line: 2, message: /nested deeper than 100 levels/ }, `line ${index}`);
  }
});

test('brackets in texts are no nesting, and neither are quotes behind backslashes the end of a text', async () => {
  const texts = ['['.repeat(500), '"['.repeat(300), '\\'.repeat(301), '\\"{'.repeat(200), ']}'.repeat(300)];
  const line = eventLine('e', { texts });
  for (const input of [
    [`${sessionLine()}\n`, line],
    [`${sessionLine()}\n`, ...line],
  ]) {
    const { service } = await openLines(input);
    assert.deepEqual((await service.getSession(key)).state.texts, texts);
  }
});

test('lines without ends are told apart, one by one, when texts in them look like the end of a line', async () => {
  const lines = [sessionLine({ state: { a: '}' } }), eventLine('e', { b: '{"c":"}' }), eventLine('f', { b: '}\\' })];
  const { service, events } = await openLines(lines);
  assert.equal(events, 2);
  assert.deepEqual({ ...(await service.getSession(key)).state }, { a: '}', b: '}\\' });
});

test('a line that is longer than a string can be is named, and the others are read', async () => {
  const long = 'x'.repeat(2 ** 26);
  const input = [`${sessionLine()}\n{"kind":"event","event":{"id":"`, long, long, long, long, long, '"}}\nx'];
  await assert.rejects(openLines(input), ({ message, problems }) => {
    assert.equal(message, 'line 2: the line is longer than 268435424 characters');
    assert.deepEqual(
      problems.map(({ line }) => line),
      [2, 3],
    );
    return true;
  });
});
