// Recordings of the real service, over gRPC, asked again of a fake over REST. What it answers has to be the same, but
// for ids, which go together one to one, and times, which have to be in the same order.

import assert from 'node:assert/strict';
import { fakeVertexAi } from '../../support/vertex.mjs';

const HOST = 'https://us-central1-aiplatform.googleapis.com/v1beta1';

/** The codes of gRPC, by the names that bodies of errors have. */
const CODES = { INVALID_ARGUMENT: 3, NOT_FOUND: 5, ALREADY_EXISTS: 6, FAILED_PRECONDITION: 9, INTERNAL: 13 };
/** A call that its client gave up. */
const CANCELLED = 1;

const TIMES = ['createTime', 'updateTime', 'expireTime'];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3}|\.\d{6}|\.\d{9})?Z$/;

/** The requests of each method, as REST has them: method, path, parameters, body. */
const METHODS = {
  CreateSession: ({ parent, session, sessionId }) => ['POST', `${parent}/sessions`, { sessionId }, session],
  GetSession: ({ name }) => ['GET', name],
  UpdateSession: ({ session: { name, ...session }, updateMask }) => ['PATCH', name, { updateMask }, session],
  DeleteSession: ({ name }) => ['DELETE', name],
  ListSessions: ({ parent, ...query }) => ['GET', `${parent}/sessions`, query],
  ListEvents: ({ parent, ...query }) => ['GET', `${parent}/events`, query],
  AppendEvent: ({ name, event }) => ['POST', `${name}:appendEvent`, {}, event],
  GetOperation: ({ name }) => ['GET', name],
};

/** Asks a fake what was recorded, and compares what it answers. */
export async function replay({ calls }) {
  const vertex = fakeVertexAi({ projects: projectsOf(calls) });
  await prepare(vertex, calls);
  const pairs = new Pairs();
  for (const call of calls) {
    const request = withoutType(call.request);
    if (request.sessionId !== undefined && !pairs.knows(request.sessionId)) {
      pairs.bind(request.sessionId, request.sessionId);
    }
    if (call.response?.['@type'] === 'Operation' && !call.response.done) {
      vertex.disturb({ kind: 'pending', polls: undonePolls(calls, call.response.name) });
    }
    const [method, path, query = {}, body] = METHODS[call.method](request);
    await compare(
      call,
      (signal) => ask(vertex, method, pairs.translate(path), pairs.translated(query), body, signal),
      pairs,
    );
  }
  pairs.checkTimes();
}

async function compare(call, send, pairs) {
  if (call.error?.code === CANCELLED) {
    await assert.rejects(send(AbortSignal.abort()), { name: 'AbortError' });
    return;
  }
  const { status, body } = await send();
  if (call.error === undefined) {
    assert.equal(status, 200, JSON.stringify(body));
    pairs.match(withoutType(call.response), body, call.method);
  } else {
    const { status: name, message, details } = body.error;
    const given = { code: CODES[name], message, ...(details && { details }) };
    assert.deepEqual(given, pairs.translated(withoutType(call.error)));
    assert.equal(status, body.error.code);
  }
}

async function ask(vertex, method, path, query, body, signal) {
  const url = new URL(`${HOST}/${path}`);
  for (const [name, value] of Object.entries(query).filter(([, given]) => given !== undefined)) {
    url.searchParams.set(name, value);
  }
  const response = await vertex.fetch(url, {
    method,
    headers: { authorization: 'Bearer any' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  });
  return { status: response.status, body: await response.json() };
}

/** The numbers of projects by their ids: requests have the ids, answers the numbers. */
function projectsOf(calls) {
  const idOf = (value) => /projects\/([^/"]+)/.exec(JSON.stringify(value ?? ''))?.[1];
  const pairs = calls.map(({ request, response }) => [idOf(request), idOf(response)]);
  return Object.fromEntries(pairs.filter(([id, number]) => id !== undefined && number !== undefined));
}

/** The number of questions for an operation that was not done. */
function undonePolls(calls, name) {
  return calls.filter(
    ({ method, request, response }) => method === 'GetOperation' && request.name === name && !response.done,
  ).length;
}

/** Writes the state of apps and users that was there before the recording: what it reads and has not yet written. */
async function prepare(vertex, calls) {
  for (const { engine, userId, key, value } of stateBefore(calls)) {
    const session = { userId, sessionState: { [key]: value } };
    const created = await ask(vertex, 'POST', `${engine}/sessions`, {}, session);
    await ask(vertex, 'DELETE', created.body.response.name, {});
  }
}

function stateBefore(calls) {
  const written = new Set();
  const found = new Map();
  const engineOf = (name) => /^.*?reasoningEngines\/[^/]+/.exec(name)[0];
  const placeOf = (key, userId) => (key.startsWith('app:') ? key : `${userId} ${key}`);
  const users = new Map();
  for (const { method, request, response } of calls) {
    const engine = engineOf(request.parent ?? request.name ?? request.session.name);
    const writer = request.session?.userId ?? users.get(request.name);
    for (const key of Object.keys(request.session?.sessionState ?? request.event?.actions?.stateDelta ?? {})) {
      written.add(placeOf(key, writer));
    }
    const read = method === 'GetSession' ? [response] : method === 'ListSessions' ? (response?.sessions ?? []) : [];
    for (const { name, userId, sessionState = {} } of read.filter((one) => one !== undefined)) {
      users.set(`${engine}${name.slice(engineOf(name).length)}`, userId);
      for (const [key, value] of Object.entries(sessionState)) {
        const place = placeOf(key, userId);
        if (/^(app|user):/.test(key) && !written.has(place) && !found.has(place)) {
          found.set(place, { engine, userId, key, value });
        }
      }
    }
  }
  return found.values();
}

function withoutType(message) {
  return Object.fromEntries(Object.entries(message).filter(([name]) => name !== '@type'));
}

/** The pairs of ids of a recording and of the fake, and of their times. */
class Pairs {
  #given = new Map();
  #recorded = new Map();
  #times = [];

  knows(recorded) {
    return this.#given.has(recorded);
  }

  bind(recorded, given) {
    assert.equal(this.#given.get(recorded) ?? given, given, `${recorded} is another one`);
    assert.equal(this.#recorded.get(given) ?? recorded, recorded, `${given} is another one`);
    this.#given.set(recorded, given);
    this.#recorded.set(given, recorded);
  }

  /** A text with the ids of the fake. */
  translate(text) {
    return text.replace(/(?<=(?:sessions|events|operations)\/)[\w-]+/g, (id) => this.#given.get(id) ?? id);
  }

  /** The same for all texts of a value. */
  translated(value) {
    const text = JSON.stringify(value);
    return JSON.parse([...this.#given].reduce((all, [recorded, given]) => all.replaceAll(recorded, given), text));
  }

  match(recorded, given, path) {
    if (typeof recorded !== 'object' || recorded === null) {
      assert.deepEqual(given, recorded, path);
      return;
    }
    assert.deepEqual(Object.keys(given).sort(), Object.keys(recorded).sort(), `the members of ${path}`);
    for (const [name, member] of Object.entries(recorded)) {
      this.#matchMember(name, member, given[name], `${path}.${name}`);
    }
  }

  #matchMember(name, recorded, given, path) {
    if (name === 'name' && typeof recorded === 'string' && recorded.startsWith('projects/')) {
      this.#matchName(recorded, given, path);
    } else if (TIMES.includes(name)) {
      assert.match(given, TIME, path);
      assert.match(recorded, TIME, path);
      this.#times.push([recorded, given]);
    } else {
      this.match(recorded, given, path);
    }
  }

  #matchName(recorded, given, path) {
    const [wanted, found] = [recorded.split('/'), given.split('/')];
    assert.equal(found.length, wanted.length, path);
    for (const [index, part] of wanted.entries()) {
      if (['sessions', 'events', 'operations'].includes(wanted[index - 1])) {
        assert.equal(/^\d+$/.test(found[index]), /^\d+$/.test(part), path);
        this.bind(part, found[index]);
      } else {
        assert.equal(found[index], part, path);
      }
    }
  }

  /** Times that were equal are equal, and an earlier one is earlier. */
  checkTimes() {
    const order = (a, b) => Math.sign(microsOf(a) - microsOf(b));
    for (const [recorded, given] of this.#times) {
      for (const [otherRecorded, otherGiven] of this.#times) {
        assert.equal(order(given, otherGiven), order(recorded, otherRecorded), `${given} and ${otherGiven}`);
      }
    }
  }
}

function microsOf(time) {
  const [, seconds, fraction = ''] = /^([^.Z]*)(?:\.(\d+))?Z$/.exec(time);
  return Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
