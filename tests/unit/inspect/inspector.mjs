// An inspector over a service, or over another server, and requests to it.

import { after } from 'node:test';
import { SessionService } from 'statepad';
import { ask } from '../../cli/requests.mjs';
import { inspectorPackage } from '../../support/inspector-package.mjs';

const built = inspectorPackage();
after(() => built.stop());

/** The entries of a copy of the package: the services of the tests are of another one. */
export const { inspect, inspectorFiles } = await built.load('inspect');
export const { nodeListener, serve } = await built.load('serve');

export const MONDAY = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };

/** A service with a session of two events. */
export async function furnished() {
  const service = new SessionService();
  const session = await service.createSession({ ...MONDAY, state: { topic: 'tides', 'user:name': 'Ana' } });
  const actions = { stateDelta: { topic: 'moon', 'app:motd': 'Hi' } };
  await service.appendEvent({ session, event: { id: 'e1', invocationId: 'i1', author: 'agent', actions } });
  await service.createSession({ appName: 'shop', userId: 'ben', sessionId: 'cart' });
  return service;
}

/**
 * An inspector that ends with its test. `get` sends a request with its token, as `ask`; `path` is below the server.
 *
 * @param {object} source
 * @param {object} [options] of `inspect`
 */
export async function inspected(source, options = {}) {
  const lines = [];
  const errors = [];
  const onError = (/** @type {unknown} */ error) => errors.push(error);
  const log = (/** @type {string} */ line) => lines.push(line);
  const { url, close } = await inspect(source, { log, onError, ...options });
  after(close);
  const { origin, hash } = new URL(url);
  const token = hash.replace('#token=', '');
  const get = async (/** @type {string} */ path, /** @type {object} */ options = {}) =>
    await ask(origin + path, { token, ...options });
  return { url, origin, token, lines, errors, close, get };
}

/** The status, the headers and the text of an answer, by `fetch`. */
export async function fetched(/** @type {string} */ url, /** @type {RequestInit} */ init = {}) {
  const answer = await fetch(url, { redirect: 'manual', ...init });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
