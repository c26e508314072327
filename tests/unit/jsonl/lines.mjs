// Lines of statepad/jsonl, written by hand.

import { KEY } from '../../support/fixtures.mjs';

/** The key of the session of `sessionLine`. */
export const key = { ...KEY, userId: 'ana' };
export const header = '{"kind":"statepad","version":1}';
export const sessionLine = (members = {}) =>
  JSON.stringify({ kind: 'session', appName: 'app', userId: 'ana', id: 's', timestamp: 5, state: {}, ...members });
export const eventLine = (id, stateDelta = {}, members = {}) =>
  JSON.stringify({ kind: 'event', event: { id, author: 'bot', timestamp: 7, actions: { stateDelta }, ...members } });
export const scopeLine = (state, members = {}) => JSON.stringify({ kind: 'scope', appName: 'app', ...members, state });

/** The lines, all of them. */
export async function all(lines) {
  const listed = [];
  for await (const line of lines) listed.push(line);
  return listed;
}
