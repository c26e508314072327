// The addresses of stores on a command line: their kinds, and how they are shown.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { addressOf, storeAddressOf, shownAddress, ADDRESS_FORMS, Secrets } = await source(
  'cli/addresses.ts',
  'cli/secrets.ts',
);

/** An address, what it means, and how it is shown. */
const ADDRESSES = [
  ['sessions.db', { kind: 'sqlite', path: 'sessions.db' }, 'sessions.db'],
  ['./data/my sessions.SQLite', { kind: 'sqlite', path: './data/my sessions.SQLite' }, './data/my sessions.SQLite'],
  ['/data/s.sqlite3', { kind: 'sqlite', path: '/data/s.sqlite3' }, '/data/s.sqlite3'],
  ['C:\\data\\s.db', { kind: 'sqlite', path: 'C:\\data\\s.db' }, 'C:\\data\\s.db'],
  ['file:///data/s.db', { kind: 'sqlite', path: 'file:///data/s.db' }, 'file:///data/s.db'],
  ['sqlite:sessions', { kind: 'sqlite', path: 'sessions' }, 'sessions'],
  ['sqlite:/data/s', { kind: 'sqlite', path: '/data/s' }, '/data/s'],
  ['sqlite::memory:', { kind: 'sqlite', path: ':memory:' }, ':memory:'],
  ['journal:sessions.db', { kind: 'journal', path: 'sessions.db' }, 'journal:sessions.db'],
  ['journal:/data/log', { kind: 'journal', path: '/data/log' }, 'journal:/data/log'],
  ['memory:', { kind: 'memory' }, 'memory:'],
  ['sessions.jsonl', { kind: 'lines', path: 'sessions.jsonl' }, 'sessions.jsonl'],
  ['C:\\data\\s.JSONL', { kind: 'lines', path: 'C:\\data\\s.JSONL' }, 'C:\\data\\s.JSONL'],
  ['jsonl:export', { kind: 'lines', path: 'export' }, 'export'],
  ['-', { kind: 'lines' }, 'standard input'],
  ['http://127.0.0.1:8377', { kind: 'server', url: 'http://127.0.0.1:8377' }, 'http://127.0.0.1:8377'],
  ['https://db.internal/a.db', { kind: 'server', url: 'https://db.internal/a.db' }, 'https://db.internal/a.db'],
  ...[
    ['postgres://db.internal/agents', 'postgres://db.internal/agents'],
    ['postgresql://ana:hunter2@db:5433/agents?sslmode=require', 'postgresql://db:5433/agents'],
    ['postgres:///agents?host=/var/run/postgresql', 'postgres:///agents'],
  ].map(([url, shown]) => [url, { kind: 'postgres', url }, shown]),
  [
    'adk-database:postgres://ana:hunter2@db/agents',
    { kind: 'adk-database', url: 'postgres://ana:hunter2@db/agents' },
    'adk-database:postgres://db/agents',
  ],
  ...[
    ['redis://localhost', 'redis://localhost'],
    ['redis://:hunter2@cache:6380/2', 'redis://cache:6380/2'],
    ['rediss://ana:hunter2@cache', 'rediss://cache'],
  ].map(([url, shown]) => [url, { kind: 'redis', url }, shown]),
];

/** Texts that are no address, and the words that say so. */
const REFUSED = [
  ['', /of no known kind/],
  ['sessions', /of no known kind/],
  ['sessions.dbx', /of no known kind/],
  ['mysql://ana:hunter2@db/agents.db', /of no known kind/],
  ['jsonl:', /names no file: jsonl:PATH/],
  ['https://ana:hunter2@agents.example', /neither a user nor parameters: the token .* --token-file or STATEPAD_TOKEN/],
  ['https://agents.example?token=hunter2', /neither a user nor parameters/],
  ['https://agents.example#hunter2', /neither a user nor parameters/],
  ['https://', /not a valid URL/],
  ['host=db password=hunter2', /of no known kind/],
  ['memory:x', /of no known kind/],
  ['adk-database:sessions.db', /of no known kind/],
  ['sqlite:', /names no file: sqlite:PATH/],
  ['journal:', /names no file: journal:PATH/],
  ['sqlite:///hunter2/s.db', /takes the path as it is: sqlite:folder\/FILE, or sqlite:\/folder\/FILE/],
  ['postgres://ana:hunter2#x@db/agents', /not a valid URL: .* a # in a password is written %23/],
];

/** Addresses with a secret in them, and texts in which a driver may repeat it. */
const SECRET = [
  ['postgres://ana:hunter2@db/agents', 'hunter2'],
  ['postgres://ana:hunter%402@db/agents', 'hunter@2'],
  ['postgres://ana:hunter%402@db/agents', 'hunter%402'],
  ['postgres://ana:hunter@2@db/agents?application_name=a@b', 'hunter@2'],
  ['postgres://ana:hunter/2@db/agents', 'hunter/2'],
  ['postgres://db/agents?user=ana&password=hunter2', 'hunter2'],
  ['redis://:hunter2@cache', 'hunter2'],
  ['adk-database:postgres://ana:hunter2@db/agents', 'hunter2'],
  ['postgres://ana:100%@db/agents', '100%'],
];

describe('addresses', () => {
  for (const [text, address, shown] of ADDRESSES) {
    it(`${text} is ${address.kind}`, () => {
      assert.deepEqual(addressOf(text), address);
      assert.equal(shownAddress(address), shown);
    });
  }

  for (const [text, message] of REFUSED) {
    it(`${JSON.stringify(text)} is refused, and not repeated`, () =>
      assert.throws(
        () => addressOf(text),
        (error) => {
          assert.equal(error.code, 2);
          assert.match(error.message, message);
          assert.doesNotMatch(error.message, /hunter2/);
          return true;
        },
      ));
  }

  it('of a store are all but those of servers and lines', () => {
    for (const [text, address] of ADDRESSES) {
      if (address.kind === 'server' || address.kind === 'lines') {
        assert.throws(() => storeAddressOf(text), /the address is not that of a store; there are:\n {2}sessions\.db /);
      } else {
        assert.deepEqual(storeAddressOf(text), address);
      }
    }
  });

  it('are listed in the refusal of another one', () => {
    for (const { form } of ADDRESS_FORMS) {
      assert.throws(
        () => addressOf('nothing'),
        ({ message }) => message.includes(form),
      );
    }
  });
});

describe('a secret in an address', () => {
  for (const [address, secret] of SECRET) {
    it(`${secret} of ${address} is taken out of texts`, () => {
      const secrets = new Secrets();
      secrets.hideIn(address);
      assert.equal(secrets.clean(`cannot use ${secret}, as ${secret} says`), 'cannot use ***, as *** says');
    });
  }

  it('is all that is taken out', () => {
    const secrets = new Secrets();
    secrets.hideIn('postgres://ana@db/agents');
    assert.equal(secrets.clean('ana cannot reach db'), 'ana cannot reach db');
  });

  it('is taken out whole where another secret is a part of it', () => {
    const secrets = new Secrets();
    secrets.hide('hunter');
    secrets.hide('hunter2');
    assert.equal(secrets.clean('hunter2 hunter'), '*** ***');
  });
});
