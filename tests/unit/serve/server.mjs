// A server with some sessions behind it, and clients with different rights. Every answer is checked against the
// description of the routes.

import { SessionService } from 'statepad';
import { serve } from 'statepad/serve';
import { memoryStore } from 'statepad/stores/memory';
import { answersOf } from '../../support/described.mjs';

/** The places of the sessions. */
export const PLACES = {
  'in memory': () => ({}),
  'over a store': () => ({ store: memoryStore() }),
};

export const ANA = { appName: 'tutor', userId: 'ana' };
export const MONDAY = { ...ANA, sessionId: 'monday' };
export const BEN = { appName: 'tutor', userId: 'ben' };

/** The session of the tests, and others that tell whether something of them comes through. */
export async function furnish(service) {
  const monday = await service.createSession({
    ...MONDAY,
    state: { topic: 'tides', 'user:name': 'Ana', 'app:motd': 'Hi' },
  });
  const actions = { stateDelta: { topic: 'moon', 'user:visits': 1, 'app:seen': 1 } };
  await service.appendEvent({ session: monday, event: { id: 'e1', invocationId: 'i1', author: 'agent', actions } });
  await service.createSession({ ...ANA, sessionId: 'tuesday', state: { topic: 'sun' } });
  const other = await service.createSession({
    ...BEN,
    sessionId: 'secret',
    state: { topic: 'ben', 'user:name': 'Ben' },
  });
  await service.appendEvent({
    session: other,
    event: { author: 'agent', actions: { stateDelta: { 'app:motd': 'By Ben' } } },
  });
  await service.createSession({ appName: 'shop', userId: 'ana', sessionId: 'cart', state: { 'app:open': true } });
}

const USER = { apps: ['tutor'], users: ['ana'] };

/** The clients by their tokens. */
export const CLIENTS = {
  admin: { id: 'admin', apps: 'all', users: 'all', writes: ['session', 'user', 'app'], may: ['sweep'] },
  ana: { id: 'ana', ...USER },
  ben: { id: 'ben', apps: ['tutor'], users: ['ben'] },
  /** One session, as a widget has it. */
  monday: { id: 'monday', ...USER, sessions: ['monday'] },
  tuesday: { id: 'tuesday', ...USER, sessions: ['tuesday'] },
  reader: { id: 'reader', ...USER, writes: [] },
  /** May write what all users share. */
  editor: { id: 'editor', ...USER, writes: ['session', 'user', 'app'] },
  /** Sees no app values. */
  private: { id: 'private', ...USER, reads: ['session', 'user'] },
  /** Sees the keys of sessions alone. */
  plain: { id: 'plain', ...USER, reads: ['session'], writes: ['session', 'user'] },
  /** Sees no sessions. */
  values: { id: 'values', ...USER, reads: ['user', 'app'] },
  /** Removes what has expired of an app, and sees nothing. */
  sweeper: { id: 'sweeper', apps: ['tutor'], users: [], writes: [], may: ['sweep'] },
  nobody: { id: 'nobody', apps: ['tutor'], users: [] },
  'other app': { id: 'other', apps: ['shop'], users: ['ana'] },
  'no app': { id: 'none', apps: [], users: 'all' },
  expired: { id: 'expired', ...USER, ends: 1 },
};

/** The principal of a request, by its token. */
export const authorize = (request) => {
  const token = request.headers.get('authorization')?.replace(/^Bearer /, '');
  return Object.hasOwn(CLIENTS, token ?? '') ? CLIENTS[token] : undefined;
};

let checking;

/** The check of answers. */
async function checked(handler) {
  return (checking ??= answersOf(await (await handler(new Request('http://host/openapi.json'))).json()));
}

/**
 * A server over a service. `ask` sends a request as a client, and checks and reads the answer.
 *
 * @param {SessionService} service
 */
export function serverOver(service, options = {}) {
  const errors = [];
  const handler = serve(service, {
    authorize,
    onError: (error, { number }) => errors.push({ error, number }),
    ...options,
  });
  const requestOf = (method, path, { client = 'admin', body, headers, ...init } = {}) =>
    new Request(`http://host${path}`, {
      method,
      headers: {
        ...(client !== undefined && client !== null && { authorization: `Bearer ${client}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body), duplex: 'half' }),
      ...init,
    });
  const ask = async (method, path, options) => {
    const request = requestOf(method, path, options);
    const response = await handler(request);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    const operation = await (await checked(handler))(request, isStream ? new Response(null, response) : response);
    if (isStream) await response.body.cancel();
    const text = isStream ? '' : await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
      operation,
    };
  };
  return { handler, ask, requestOf, errors };
}

const isRaw = (body) => typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream;

/** A furnished service behind a server. */
export async function openServer(place = 'in memory', options = {}) {
  const service = new SessionService(PLACES[place]());
  await furnish(service);
  return { service, ...serverOver(service, options) };
}

/** All that can be read of the server's sessions: the same again where nothing was written. */
export const readableState = async ({ ask }) => [
  (await ask('GET', '/v1/apps/tutor/sessions')).body,
  (await ask('GET', '/v1/apps/tutor/state')).body,
  (await ask('GET', '/v1/apps')).body,
];
