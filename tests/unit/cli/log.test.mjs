// The lines of the log, and the first words of a server.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { Log, greetingForPeople, greetingForPrograms, problemOf, Secrets } = await source(
  'cli/serve/log.ts',
  'cli/serve/greeting.ts',
  'cli/problem.ts',
  'cli/secrets.ts',
);

const TIME = '2026-01-02T03:04:05.678Z';
const REQUEST = { operation: 'createSession', method: 'POST', status: 200, duration: 1.23456 };

/** The lines that calls write. */
function linesOf(options, calls) {
  const lines = [];
  calls(new Log({ quiet: false, now: () => new Date(TIME), write: (line) => lines.push(line), ...options }));
  return lines;
}

const calls = (log) => {
  log.request(REQUEST);
  log.request({ ...REQUEST, operation: undefined, status: 404 });
  log.info('ended');
  log.warn('odd');
  log.error('bad', '123456789012');
  log.error('worse');
};

describe('the log', () => {
  it('is JSON for programs, a line for each entry', () => {
    const lines = linesOf({ format: 'json' }, calls);
    assert.ok(lines.every((line) => /^\{.*\}\n$/.test(line)));
    const request = { time: TIME, level: 'info', event: 'request', method: 'POST', ms: 1.23 };
    assert.deepEqual(
      lines.map((line) => JSON.parse(line)),
      [
        { ...request, operation: 'createSession', status: 200 },
        { ...request, operation: '-', status: 404 },
        { time: TIME, level: 'info', message: 'ended' },
        { time: TIME, level: 'warn', message: 'odd' },
        { time: TIME, level: 'error', number: '123456789012', message: 'bad' },
        { time: TIME, level: 'error', message: 'worse' },
      ],
    );
  });

  it('is text for people', () => {
    assert.deepEqual(linesOf({ format: 'text' }, calls), [
      '03:04:05 POST createSession 200 1.23 ms\n',
      '03:04:05 POST - 404 1.23 ms\n',
      '03:04:05 ended\n',
      '03:04:05 warning: odd\n',
      '03:04:05 error 123456789012: bad\n',
      '03:04:05 error: worse\n',
    ]);
  });

  it('has no requests when it is quiet, and all else', () => {
    const levels = linesOf({ format: 'json', quiet: true }, calls).map((line) => JSON.parse(line).level);
    assert.deepEqual(levels, ['info', 'warn', 'error', 'error']);
  });

  it('has a warning that is repeated once in ten seconds', () => {
    let time = Date.parse(TIME);
    const written = [];
    const write = (line) => written.push(line.slice(9));
    const log = new Log({ format: 'text', quiet: false, now: () => new Date(time), write });
    for (const [message, pause] of Object.entries({ a1: 0, a2: 9_999, a3: 1, a4: 1, b: 0, a5: 0 })) {
      time += pause;
      log.warn(message[0]);
    }
    assert.deepEqual(written, ['warning: a\n', 'warning: a\n', 'warning: b\n', 'warning: a\n']);
  });

  it('keeps a message with line breaks in one line of JSON', () => {
    const [line, ...more] = linesOf({ format: 'json' }, (log) => log.warn('one\ntwo'));
    assert.deepEqual([line.split('\n').length, more], [2, []]);
  });
});

describe('the greeting', () => {
  const greeting = { url: 'http://127.0.0.1:8377/agents', store: 'sessions.db', token: 't0ken', insecure: false };

  it('is one line of JSON for programs', () => {
    assert.equal(
      greetingForPrograms(greeting),
      '{"listening":"http://127.0.0.1:8377/agents","store":"sessions.db","token":"t0ken"}',
    );
    assert.deepEqual(Object.keys(JSON.parse(greetingForPrograms({ ...greeting, token: undefined }))), [
      'listening',
      'store',
    ]);
  });

  it('shows people the address, the token that was made, and the line of a Python agent', () => {
    const text = greetingForPeople(greeting);
    for (const part of [
      'statepad serves sessions.db at http://127.0.0.1:8377/agents',
      "curl -H 'authorization: Bearer t0ken' http://127.0.0.1:8377/agents/v1/apps",
      "StatepadSessionService('http://127.0.0.1:8377/agents', token='t0ken')",
    ]) {
      assert.ok(text.includes(part), part);
    }
  });

  it('shows no token where none was made', () => {
    const text = greetingForPeople({ ...greeting, token: undefined });
    assert.ok(text.includes('Bearer TOKEN') && !text.includes('Token of this run'));
    const open = greetingForPeople({ ...greeting, token: undefined, insecure: true });
    assert.ok(!/Bearer|token=/.test(open) && open.includes("StatepadSessionService('http://127.0.0.1:8377/agents')"));
  });
});

describe('an error', () => {
  const secrets = new Secrets();
  secrets.hide('hunter2');
  const cause = new Error('password hunter2 is wrong');
  const several = Object.assign(new AggregateError([cause], ''), { code: 'ECONNREFUSED' });

  /** Errors, and what is said of them. */
  const ERRORS = [
    [new Error('the store is away'), 'the store is away'],
    [new Error('the store is away', { cause }), 'the store is away: password *** is wrong'],
    [new Error('away: password hunter2 is wrong', { cause }), 'away: password *** is wrong'],
    [several, 'password *** is wrong'],
    [Object.assign(new Error(''), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [new TypeError(''), 'TypeError'],
    ['hunter2', '***'],
  ];
  for (const [error, text] of ERRORS) {
    it(`is told as: ${text}`, () => assert.equal(problemOf(error, secrets, false), text));
  }

  it('is told with its stack for debugging, without secrets', () => {
    const text = problemOf(new Error('away', { cause }), secrets, true);
    assert.match(text, /^Error: away\n {4}at /);
    assert.match(text, /\nError: password \*\*\* is wrong\n {4}at /);
  });

  it('whose causes go round in a circle comes to an end', () => {
    const first = new Error('a');
    first.cause = new Error('b', { cause: first });
    assert.equal(problemOf(first, secrets, false), 'a: b');
  });
});
