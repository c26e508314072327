// Databases that adk-python itself has made, and what it reads of them.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../packaging/project.mjs';

const script = join(root, 'tests', 'hosts', 'adk-python', 'make', 'sessions.py');

/**
 * A Python that has google-adk: the one that `STATEPAD_TEST_ADK_PYTHON` names, or that of tests/hosts/adk-python;
 * `{ skip }` with the reason where there is none. On CI that is an error.
 */
export async function pythonForTests() {
  try {
    const named = process.env.STATEPAD_TEST_ADK_PYTHON;
    return { python: named ?? (await (await import('../hosts/adk-python/python.mjs')).adkPython()) };
  } catch (error) {
    if (process.env.CI) throw error;
    const skip = `NO ADK-PYTHON, NOT TESTED: ${error.message}`;
    console.error(skip);
    return { skip };
  }
}

/** Makes a database of a layout (`v1`, `v0`, `sqlite`), and answers the sessions that adk-python reads of it. */
export async function madeBy(python, layout, url) {
  const { stdout } = await promisify(execFile)(python, ['-W', 'ignore', script, layout, url], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout);
}

/** The sessions that adk-python reads, as a service of statepad shows them: times in milliseconds. */
export function asShown({ appName, userId, id, state, events }) {
  return { appName, userId, id, state, events: events.map(eventAsShown) };
}

/** adk-python writes bytes in the alphabet for URLs: in ADK's JSON they are in the other one. */
export function withBase64(key, value) {
  return key === 'data' ? value.replaceAll('-', '+').replaceAll('_', '/') : value;
}

function eventAsShown(read) {
  const event = JSON.parse(JSON.stringify(read), withBase64);
  delete event.nodeInfo;
  const milliseconds = Math.round(event.timestamp * 1e6) / 1e3;
  for (const config of Object.values(event.actions.requestedAuthConfigs)) {
    // A member that was stored as `type_` is read as a member of its own, too.
    delete config.authScheme.type_;
  }
  return { ...event, timestamp: milliseconds };
}
