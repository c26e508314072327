// Hidden values of production data: none of them is left, and what is left can be read as before.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';
import { DELETED, SessionService, append, increment } from '../../../pkg/dist/index.js';
import { exportLines, openLines } from '../../../pkg/dist/jsonl.js';

const { Redaction, HIDDEN } = await source('cli/output/redact.ts');

const STATE = {
  topic: 'tides',
  'user:email': 'ana@example.org',
  'app:apiToken': 's3cret',
  profile: { name: 'Ana', address: { email: 'ana@example.org' }, list: [{ email: 1 }, 'x'] },
  email: null,
};

/** Patterns, and the state that they leave. */
const STATES = [
  [[], STATE],
  [['nothing'], STATE],
  [['user:email'], { ...STATE, 'user:email': HIDDEN }],
  [
    ['EMAIL'],
    {
      ...STATE,
      'user:email': HIDDEN,
      profile: { name: 'Ana', address: { email: HIDDEN }, list: [{ email: HIDDEN }, 'x'] },
    },
  ],
  [['*token*', 'profile'], { ...STATE, 'app:apiToken': HIDDEN, profile: HIDDEN }],
  [['app:*'], { ...STATE, 'app:apiToken': HIDDEN }],
  [['*'], { topic: HIDDEN, 'user:email': HIDDEN, 'app:apiToken': HIDDEN, profile: HIDDEN, email: null }],
];

describe('a redacted state', () => {
  for (const [patterns, expected] of STATES) {
    it(`hides ${patterns.join(' and ') || 'nothing'}`, () =>
      assert.deepEqual(new Redaction(patterns).state(STATE), expected));
  }

  it('is hidden by the full keys of its names', () => {
    const redaction = new Redaction(['user:email']);
    assert.deepEqual(redaction.state({ email: 'x' }, 'user:'), { email: HIDDEN });
    assert.deepEqual(redaction.state({ email: 'x' }, 'app:'), { email: 'x' });
  });

  it('keeps own members with names of inherited ones', () => {
    const state = JSON.parse('{"__proto__": {"email": 1}, "constructor": 2}');
    const { ['__proto__']: proto, constructor } = JSON.parse(
      JSON.stringify(new Redaction(['email', 'constructor']).state(state)),
    );
    assert.deepEqual([proto, constructor], [{ email: HIDDEN }, HIDDEN]);
  });
});

const SECRET = 'hunter2';
const IDS = { appName: 'shop', userId: 'ana', sessionId: 'monday' };

/** A session whose texts, calls, results, metadata and deltas have a secret. */
async function sessionWithSecrets() {
  const service = new SessionService();
  const session = await service.createSession({ ...IDS, state: { password: SECRET, gone: 1, 'user:list': [] } });
  const events = [
    { author: 'user', content: { role: 'user', parts: [{ text: SECRET }, { inlineData: { data: SECRET } }] } },
    {
      author: 'agent',
      content: { role: 'model', parts: [{ functionCall: { name: 'login', args: { password: SECRET } } }] },
      actions: {
        stateDelta: { password: SECRET, visits: increment(), 'user:list': append(SECRET), gone: DELETED },
        artifactDelta: { [SECRET]: 1 },
        requestedAuthConfigs: { login: { password: SECRET } },
        compaction: { compactedContent: { parts: [{ text: SECRET }] } },
        transferToAgent: 'helper',
      },
      customMetadata: { note: SECRET },
      usageMetadata: { totalTokenCount: 7 },
      longRunningToolIds: ['c1'],
    },
    {
      author: 'agent',
      errorCode: 'FAILED',
      errorMessage: SECRET,
      inputTranscription: { text: SECRET },
      extra: SECRET,
    },
  ];
  for (const event of events) await service.appendEvent({ session, event: { invocationId: 'i', ...event } });
  return { service, session: await service.getSession(IDS) };
}

describe('redacted events', () => {
  it('hide members and keys by name, at any depth, with the operands of operators', async () => {
    const { session } = await sessionWithSecrets();
    const [, event] = session.events;
    const hidden = new Redaction(['password', 'list']).event(event);
    assert.deepEqual(hidden.content.parts[0].functionCall, { name: 'login', args: { password: HIDDEN } });
    const { password, visits, 'user:list': list, gone } = hidden.actions.stateDelta;
    assert.deepEqual([password, visits, list, gone], [HIDDEN, 1, HIDDEN, null]);
    assert.deepEqual(hidden.customMetadata, {
      note: SECRET,
      statepad: { deleted: ['gone'], operators: { visits: { increment: 1 } } },
    });
    assert.deepEqual(hidden.actions.requestedAuthConfigs, { login: { password: HIDDEN } });
    assert.deepEqual([hidden.id, hidden.timestamp, hidden.author], [event.id, event.timestamp, event.author]);
  });

  it('have nothing that was said or done with content, and keep their structure', async () => {
    const { session } = await sessionWithSecrets();
    const redaction = new Redaction(['content', 'password', '*list']);
    const hidden = session.events.map((event) => redaction.event(event));
    assert.doesNotMatch(JSON.stringify(hidden), /hunter2/);
    assert.deepEqual(
      hidden.map(({ id, author, content, errorCode }) => [id, author, content, errorCode]),
      session.events.map(({ id, author, content, errorCode }) => [
        id,
        author,
        content && { role: content.role, parts: [{ text: HIDDEN }] },
        errorCode,
      ]),
    );
    const { actions, usageMetadata, longRunningToolIds } = hidden[1];
    assert.deepEqual(usageMetadata, { totalTokenCount: 7 });
    assert.deepEqual([actions.transferToAgent, actions.stateDelta.visits, longRunningToolIds], ['helper', 1, ['c1']]);
  });

  it('can be exported and opened again, with the same ids, times and deletions', async () => {
    const { service, session } = await sessionWithSecrets();
    const redaction = new Redaction(['*']);
    const lines = [];
    for await (const line of exportLines(service, { appName: 'shop' })) {
      const record = JSON.parse(line);
      if (record.kind === 'event') record.event = redaction.event(record.event);
      if (record.kind === 'session') record.state = redaction.state(record.state);
      if (record.kind === 'scope') record.state = redaction.state(record.state, record.userId ? 'user:' : 'app:');
      lines.push(JSON.stringify(record));
    }
    assert.doesNotMatch(lines.join(''), /hunter2/);
    const opened = await openLines(lines.join('\n'));
    const again = await opened.service.getSession(IDS);
    assert.deepEqual(
      again.events.map(({ id, timestamp }) => [id, timestamp]),
      session.events.map(({ id, timestamp }) => [id, timestamp]),
    );
    assert.deepEqual(again.state, { password: HIDDEN, visits: HIDDEN, 'user:list': HIDDEN });
  });
});
