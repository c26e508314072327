// Requests to a server that the program serves.

import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { TextDecoderStream } from 'node:stream/web';

/** The path of the sessions of a user. */
export const SESSIONS = '/v1/apps/tutor/users/ana/sessions';

/**
 * Sends a request by `node:http`, which lets a test choose every header. Answers its status and its body, and the
 * headers.
 *
 * @param {string} url
 * @param {{ method?: string, token?: string, headers?: Record<string, string>, body?: unknown }} [options]
 */
export async function ask(url, { method = 'GET', token, headers = {}, body } = {}) {
  const sent = request(url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  const response = await new Promise((resolve, reject) => {
    sent.once('response', resolve).once('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
  return { status: response.statusCode, body: await json(response), headers: response.headers };
}

/**
 * Creates a session, and appends an event to it.
 *
 * @param {{ url: string, token?: string }} server
 * @param {string} sessionId
 */
export async function writeSession({ url, token }, sessionId) {
  const created = await ask(url + SESSIONS, { method: 'POST', token, body: { sessionId, state: { step: 1 } } });
  const event = { author: 'user', invocationId: 'i', actions: { stateDelta: { step: 2, 'app:motd': 'hello' } } };
  const appended = await ask(`${url}${SESSIONS}/${sessionId}/events`, { method: 'POST', token, body: { event } });
  return [created.status, appended.status];
}

/**
 * The state of a session.
 *
 * @param {{ url: string, token?: string }} server
 * @param {string} sessionId
 */
export async function stateOf({ url, token }, sessionId) {
  const { body } = await ask(`${url}${SESSIONS}/${sessionId}`, { token });
  return body.state;
}

/**
 * Watches a whole session. `until` resolves when the stream has a text, `end` when it has ended.
 *
 * @param {{ url: string, token?: string }} server
 * @param {string} sessionId
 */
export async function streamOf({ url, token }, sessionId) {
  const response = await fetch(`${url}/v1/watch?appName=tutor&userId=ana&sessionId=${sessionId}&whole=true`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
  });
  if (response.status !== 200) throw new Error(`the watch is answered with ${response.status}`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let heard = '';
  const until = async (/** @type {string} */ text) => {
    while (!heard.includes(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream has ended:\n${heard}`);
      heard += value;
    }
  };
  const end = async () => {
    for (let { done } = await reader.read(); !done; { done } = await reader.read());
  };
  return { until, end, cancel: () => reader.cancel() };
}
