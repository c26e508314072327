// Pickles of actions: those that adk-python has made give what pydantic makes of them, and nothing else is read.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { importAdk } from 'statepad/import-adk';
import { pythonForTests, withBase64 } from './python.mjs';

const recorded = readFileSync(new URL('pickles.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map(JSON.parse);

const COLUMNS = (...names) =>
  names.map((column_name) => ({ column_name, data_type: 'VARCHAR(128)', data_length: null, is_nullable: 'NO' }));
const TABLES = {
  sessions: COLUMNS('app_name', 'user_id', 'id', 'state', 'create_time', 'update_time'),
  app_states: COLUMNS('app_name', 'state'),
  user_states: COLUMNS('app_name', 'user_id', 'state'),
  events: COLUMNS(
    ...['id', 'app_name', 'user_id', 'session_id', 'invocation_id', 'timestamp', 'author', 'actions'],
    ...['long_running_tool_ids_json', 'content'],
  ),
};

/** A database of schema 0 with one event, whose actions are these bytes. */
function databaseWith(actions, state = '{}') {
  const session = { app_name: 'a', user_id: 'u', id: 's', state, created: '2024-01-01 00:00:00', updated: 0 };
  const event = { event_id: 'e', event_time: '2024-01-01 00:00:00.000000', invocation_id: 'i', author: 'x', actions };
  const query = (sql) => {
    if (sql.includes('pragma_table_info')) {
      return Object.entries(TABLES).flatMap(([table_name, columns]) => columns.map((c) => ({ table_name, ...c })));
    }
    if (/^SELECT actions/.test(sql)) return [{ actions }];
    if (/NOT EXISTS/.test(sql)) return [];
    if (/FROM sessions/.test(sql)) return [session];
    if (/FROM events/.test(sql)) return [event];
    return [];
  };
  return { dialect: 'sqlite', query };
}

async function actionsOf(bytes, options = {}) {
  const service = new SessionService();
  const result = await importAdk(databaseWith(bytes), service, options);
  const session = await service.getSession({ appName: 'a', userId: 'u', sessionId: 's' });
  return { result, actions: session?.events[0]?.actions };
}

const refusal = async (bytes) => {
  const { result, actions } = await actionsOf(bytes);
  assert.equal(actions, undefined);
  assert.deepEqual([result.failed, result.problemCount], [1, 1]);
  return result.problems[0].reason;
};

describe('a pickle of adk-python', () => {
  assert.ok(recorded.length > 40);
  for (const { adk, name, protocol, json, pickle } of recorded) {
    test(`${name}, of google-adk ${adk} in protocol ${protocol}, is what pydantic makes of it`, async () => {
      const { result, actions } = await actionsOf(Buffer.from(pickle, 'base64'));
      assert.deepEqual(result.problems, []);
      // The Python name of a member is stored beside its name in OpenAPI.
      const plain = JSON.stringify(json, (key, value) => (key === 'type_' ? undefined : value));
      const expected = JSON.parse(plain, withBase64);
      assert.deepEqual(JSON.parse(JSON.stringify(actions)), expected);
    });
  }
});

/** Bytes of opcodes: texts as they are, numbers as bytes. */
const bytes = (...parts) =>
  Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part, 'latin1'))));
const short = (text) => bytes(0x8c, text.length, text);

/** Actions whose delta is what these opcodes make of an empty dict. */
const withDelta = (...parts) =>
  bytes(
    ...[0x80, 4, 'cgoogle.adk.events.event_actions\nEventActions\n', ')', 0x81, '}', short('__dict__'), '}'],
    ...[short('state_delta'), '}', ...parts, 'ssb.'],
  );

describe('what no event has in its actions', () => {
  for (const [module, name] of [
    ['os', 'system'],
    ['builtins', 'eval'],
    ['builtins', 'getattr'],
    ['google.adk.events.event_actions', 'EventActions.model_validate'],
    ['google.genai.types', 'Nothing'],
    ['__main__', 'Mine'],
  ]) {
    test(`${module}.${name} is refused by name, in both forms, and nothing is run`, async () => {
      const expected = `event "e": the pickle has ${module}.${name}, which is not a class of events`;
      const mark = join(tmpdir(), `statepad-ran-${process.pid}`);
      const call = bytes(short(`touch ${mark}`), 0x85, 'R.');
      assert.equal(await refusal(bytes(0x80, 4, short(module), short(name), 0x93, call)), expected);
      assert.equal(await refusal(bytes(0x80, 4, `c${module}\n${name}\n`, call)), expected);
      assert.equal(existsSync(mark), false);
    });
  }

  const [{ pickle }] = recorded;
  const whole = Buffer.from(pickle, 'base64');
  test('a pickle that is cut off anywhere is refused', async () => {
    for (let length = 2; length < whole.length; length += 7) {
      assert.match(await refusal(whole.subarray(0, length)), /^event "e": the pickle ends too early$/);
    }
  });

  test('bytes that are no pickle are refused, whatever they are', async () => {
    for (let seed = 1; seed <= 300; seed++) {
      const junk = Buffer.from(whole);
      for (let n = 0; n < 5; n++)
        junk[2 + ((seed * 7919 + n * 104_729) % (junk.length - 2))] = (seed * 31 + n * 17) % 256;
      const { result } = await actionsOf(junk);
      assert.equal(result.sessions + result.failed, 1);
    }
  });

  for (const [what, data, reason] of [
    ['a later protocol', bytes(0x80, 6, 'N.'), /protocol 6, but 5 is the last supported one/],
    ['an unknown opcode', bytes(0x80, 4, 0xff, '.'), /the opcode 0xff, which is unknown/],
    ['a persistent id', bytes(0x80, 4, 'Pid\n.'), /the opcode 0x50/],
    ['an instance of old', bytes(0x80, 4, '(ios\nsystem\n.'), /the opcode 0x69/],
    ['an empty stack', bytes(0x80, 4, '.'), /its stack is empty/],
    ['a class as a value', withDelta(short('k'), 'cbuiltins\nint\n', 's'), /the class builtins.int itself/],
    ['a dict in itself', withDelta(0x94, short('k'), 'h', 0, 's'), /nested too deep/],
    ['something else than actions', bytes(0x80, 4, '}.'), /a pickle, but not of EventActions/],
    ['a text that is no UTF-8', bytes(0x80, 4, 0x8c, 1, 0xff, '.'), /a text that is not UTF-8/],
    ['a huge length', bytes(0x80, 4, 0x8d, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, '.'), /ends too early/],
  ]) {
    test(`${what} is refused`, async () => assert.match(await refusal(data), reason));
  }

  const BIG = [0x8a, 8, '\x01\0\0\0\0\0\x20\0'];

  test('a number beyond a double is refused by its value, or a text where that is asked for', async () => {
    const data = withDelta(short('k'), ...BIG, 's');
    const told = 'event "e": the pickle has the number 9007199254740993, which JavaScript cannot represent';
    assert.match(await refusal(data), new RegExp(`^${told}: with the option integers: 'text'`));
    const { result, actions } = await actionsOf(data, { integers: 'text' });
    assert.deepEqual(actions.stateDelta, { k: '9007199254740993' });
    assert.deepEqual(
      result.problems.map(({ reason, imported }) => [reason, imported]),
      [[`${told}: it is a text now`, true]],
    );
  });

  test('an integer that is a double is no problem', async () => {
    // 10 to the power of 22.
    const data = withDelta(short('k'), 0x8a, 10, '\0\0\x40\xb2\xba\xc9\xe0\x19\x1e\x02', 's');
    const { result, actions } = await actionsOf(data);
    assert.deepEqual([result.problems, actions.stateDelta], [[], { k: 1e22 }]);
  });
});

describe('a pickle that is small and comes to much', () => {
  /** Lists of ten times the one before, which is in them by its number; the last one is left on the stack. */
  const lists = (levels, ...first) => {
    const parts = [']', 0x94, '(', ...first, 'e'];
    for (let level = 1; level < levels; level++) {
      parts.push('0]', 0x94, '(', ...Array.from({ length: 10 }, () => bytes('h', level - 1)), 'e');
    }
    return bytes(...parts);
  };
  const global = (module, name) => `c${module}\n${name}\n`;
  const nones = bytes('}', ...Array.from({ length: 20 }, (_, index) => bytes(short(`n${index}`), 'Ns')));
  const content = bytes(global('google.genai.types', 'Content'), ')', 0x81, '}', short('__dict__'), nones, 'sb');

  for (const [what, ...parts] of [
    ['lists that share their parts', lists(20, 'K', 1)],
    ['lists of a text', lists(8, short('x'.repeat(200)))],
    ['lists of models whose members are None', lists(8, content)],
    ['a path of lists', global('pathlib', 'PurePosixPath'), lists(20, short('x')), 0x85, 'R'],
    ['a span of lists', global('datetime', 'timedelta'), lists(20, 'K', 1), 0x85, 'R'],
    ['a complex number of lists', global('builtins', 'complex'), lists(20, 'K', 1), 'K', 1, 0x86, 'R'],
  ]) {
    test(`${what}: refused, and the event loop goes on`, async () => {
      const data = withDelta(short('k'), ...parts, 's');
      assert.ok(data.length < 1_000, String(data.length));
      const { result } = await actionsOf(data);
      const [{ code, reason }] = result.problems;
      assert.ok(['LIMIT_EXCEEDED', 'INVALID_ARGUMENT'].includes(code));
      assert.match(reason, /comes to far more values than it has bytes|parts that are not (strings|numbers)/);
    });
  }

  test('an integer of 300 kilobytes is refused', async () => {
    const size = 300_000;
    const length = Buffer.alloc(4);
    length.writeInt32LE(size);
    const data = Buffer.concat([
      bytes(0x80, 4, 'cgoogle.adk.events.event_actions\nEventActions\n', ')', 0x81, '}', short('__dict__'), '}'),
      bytes(short('state_delta'), '}', short('k'), 0x8b),
      length,
      Buffer.alloc(size, 0x7f),
      bytes('sssb.'),
    ]);
    const { result } = await actionsOf(data);
    assert.deepEqual(
      result.problems.map(({ code, reason }) => [code, reason]),
      [['LIMIT_EXCEEDED', 'event "e": the pickle has an integer of 300000 bytes']],
    );
  });

  test('opcodes without end are refused', async () => {
    const { result } = await actionsOf(bytes(0x80, 4, 'N0'.repeat(1_000_001), 'N.'));
    assert.deepEqual(
      result.problems.map(({ code, reason }) => [code, reason]),
      [['LIMIT_EXCEEDED', 'event "e": the pickle has more than 2000000 opcodes']],
    );
  });

  test('lists of many items are none of these', async () => {
    const data = withDelta(short('k'), ']', '(', 'K\x07'.repeat(200_000), 'e', 's');
    const { result, actions } = await actionsOf(data);
    assert.deepEqual(result.problems, []);
    assert.deepEqual([actions.stateDelta.k.length, actions.stateDelta.k.at(-1)], [200_000, 7]);
  });
});

const { python, skip } = await pythonForTests();

test('what adk-python makes now is what was recorded of its version', { skip }, () => {
  const script = new URL('../hosts/adk-python/make/pickles.py', import.meta.url).pathname;
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  const made = execFileSync(python, ['-W', 'ignore', script], options).trim().split('\n').map(JSON.parse);
  const [{ adk: version }] = made;
  const shown = ({ name, protocol, json }) => ({ name, protocol, json });
  assert.deepEqual(made.map(shown), recorded.filter(({ adk }) => adk === version).map(shown));
});
