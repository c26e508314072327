// Recordings of the real service, over gRPC, asked again of a server of the API over REST. What it answers has to be
// the same, but for ids, which go together one to one, and times, which have to be in the same order.

import assert from 'node:assert/strict';

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

/**
 * Asks a server what was recorded, and compares what it answers: the differences, `{ method, path, recorded, given }`.
 * `open(projects)` makes the server for the numbers of projects by their ids: `{ fetch, pending?(polls) }`; `pending`
 * lets the operation that the next request starts be undone for some polls.
 */
export async function replay({ calls }, open) {
  const server = open(projectsOf(calls));
  await prepare(server, calls);
  const pairs = new Pairs();
  for (const call of calls) {
    const request = withoutType(call.request);
    if (request.sessionId !== undefined && !pairs.knows(request.sessionId)) {
      pairs.bind(request.sessionId, request.sessionId);
    }
    if (call.response?.['@type'] === 'Operation' && !call.response.done) {
      server.pending?.(undonePolls(calls, call.response.name));
    }
    const [method, path, query = {}, body] = METHODS[call.method](request);
    await compare(
      call,
      (signal) => ask(server, method, pairs.translate(path), pairs.translated(query), body, signal),
      pairs,
    );
  }
  pairs.checkTimes();
  return pairs.differences;
}

async function compare(call, send, pairs) {
  if (call.error?.code === CANCELLED) {
    await assert.rejects(send(AbortSignal.abort()), { name: 'AbortError' });
    return;
  }
  pairs.method = call.method;
  const { status, body } = await send();
  const isRefused = body.error !== undefined;
  if (isRefused !== (call.error !== undefined)) {
    pairs.differ('(error)', call.error?.message, body.error?.message);
  } else if (isRefused) {
    const { status: name, message, details } = body.error;
    const given = { code: CODES[name], message, ...(details && { details }) };
    pairs.matchExactly(pairs.translated(withoutType(call.error)), given, 'error');
    assert.equal(status, body.error.code);
  } else {
    assert.equal(status, 200, JSON.stringify(body));
    pairs.match(withoutType(call.response), body, '');
  }
}

async function ask(server, method, path, query, body, signal) {
  const url = new URL(`${HOST}/${path}`);
  for (const [name, value] of Object.entries(query).filter(([, given]) => given !== undefined)) {
    url.searchParams.set(name, value);
  }
  const headers = { authorization: 'Bearer any', ...(body !== undefined && { 'content-type': 'application/json' }) };
  const response = await server.fetch(url, {
    method,
    headers,
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
async function prepare(server, calls) {
  for (const { engine, userId, key, value } of stateBefore(calls)) {
    const session = { userId, sessionState: { [key]: value } };
    const created = await ask(server, 'POST', `${engine}/sessions`, {}, session);
    await ask(server, 'DELETE', created.body.response.name, {});
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

/** The pairs of ids of a recording and of the server, and of their times; and what differs. */
class Pairs {
  differences = [];
  /** The method that is compared. */
  method = '';
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

  /** A text with the ids of the server. */
  translate(text) {
    return text.replace(/(?<=(?:sessions|events|operations)\/)[\w-]+/g, (id) => this.#given.get(id) ?? id);
  }

  /** The same for all texts of a value. */
  translated(value) {
    const text = JSON.stringify(value);
    return JSON.parse([...this.#given].reduce((all, [recorded, given]) => all.replaceAll(recorded, given), text));
  }

  /** Notes a difference. Paths have `*` in the place of indexes. */
  differ(path, recorded, given) {
    this.differences.push({ method: this.method, path: path.replace(/\.\d+(?=\.|$)/g, '.*'), recorded, given });
  }

  match(recorded, given, path) {
    if (typeof recorded !== 'object' || recorded === null || typeof given !== 'object' || given === null) {
      this.matchExactly(recorded, given, path);
      return;
    }
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(given)])) {
      this.#matchMember(name, recorded[name], given[name], path === '' ? name : `${path}.${name}`);
    }
  }

  matchExactly(recorded, given, path) {
    try {
      assert.deepEqual(given, recorded);
    } catch {
      this.differ(path, recorded, given);
    }
  }

  #matchMember(name, recorded, given, path) {
    if (recorded === undefined || given === undefined) {
      this.differ(path, recorded, given);
    } else if (name === 'name' && typeof recorded === 'string' && recorded.startsWith('projects/')) {
      this.#matchName(recorded, given, path);
    } else if (TIMES.includes(name)) {
      assert.match(given, TIME, path);
      assert.match(recorded, TIME, path);
      this.#times.push({ recorded, given, path: `${this.method}.${path}`.replace(/\.\d+(?=\.|$)/g, '.*') });
    } else {
      this.match(recorded, given, path);
    }
  }

  /** Compares names part by part; of ids, whether they are numbers. */
  #matchName(recorded, given, path) {
    const [wanted, found] = [recorded.split('/'), given.split('/')];
    assert.equal(found.length, wanted.length, `${path}: ${given}`);
    for (const [index, part] of wanted.entries()) {
      const kind = wanted[index - 1];
      if (['sessions', 'events', 'operations'].includes(kind)) {
        const isNumber = (id) => /^\d+$/.test(id);
        if (isNumber(found[index]) !== isNumber(part)) {
          this.differ(`${path} (${kind})`, part, found[index]);
        }
        this.bind(part, found[index]);
      } else if (found[index] !== part) {
        this.differ(`${path} (${kind})`, part, found[index]);
      }
    }
  }

  /** Times that were equal are equal, and an earlier one is earlier. */
  checkTimes() {
    const order = (a, b) => Math.sign(microsOf(a) - microsOf(b));
    this.method = 'times';
    for (const [index, one] of this.#times.entries()) {
      for (const other of this.#times.slice(index + 1)) {
        if (order(one.given, other.given) !== order(one.recorded, other.recorded)) {
          const show = ({ recorded, given }) => `${recorded} (${given})`;
          this.differ(`${one.path} and ${other.path}`, show(one), show(other));
        }
      }
    }
  }
}

function microsOf(time) {
  const [, seconds, fraction = ''] = /^([^.Z]*)(?:\.(\d+))?Z$/.exec(time);
  return Date.parse(`${seconds}Z`) * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}
