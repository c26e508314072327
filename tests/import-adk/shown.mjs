// The sessions of an import as a service shows them, to be compared with those that an ADK reads.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The id of the event that makes the state of a session what its row says. */
export const CORRECTION = 'statepad-import';

/** All sessions of some apps without their corrections: plain records, by app, user and id. */
export async function shownBy(service, apps) {
  const shown = [];
  for (const appName of apps) {
    const { sessions } = await service.listSessions({ appName });
    for (const row of sessions) {
      const { id, userId, state, events } = await service.getSession(row);
      const plain = events.filter((event) => event.id !== CORRECTION).map(withoutNode);
      shown.push({ appName, userId, id, state, events: plain });
    }
  }
  return sorted(JSON.parse(JSON.stringify(shown)));
}

/** An event without the members that adk-python adds when there is no node: they were never stored. */
function withoutNode(event) {
  const plain = { ...event };
  delete plain.nodeInfo;
  return plain;
}

/** Sessions in one order. */
export function sorted(sessions) {
  const name = ({ appName, userId, id }) => JSON.stringify([appName, userId, id]);
  return sessions.toSorted((a, b) => (name(a) < name(b) ? -1 : 1));
}

/** Runs a test in a folder of its own. */
export async function inTemporary(test) {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-import-'));
  try {
    return await test(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
