// A session of lines, planned for a service.

import { storedDeletions } from '../model/deletion.js';
import { put } from '../model/json.js';
import { isTemp, nameOf } from '../model/scope.js';
import { storedForm, type Members, type Planned } from '../transfer/planned.js';
import type { FileSession } from './read.js';

/** The planned form of a session. Throws `INVALID_ARGUMENT` for an event that no service can have. */
export function plannedOf({ key, timestamp, end, state, events }: FileSession): Planned {
  const beginning = Object.fromEntries(Object.entries(state).filter(([name]) => !isTemp(name)));
  const stored = events.map(({ event }) =>
    storedForm('invocationId' in event ? event : { ...event, invocationId: '' }),
  );
  const last = valuesAfter(beginning, stored);
  return { key, created: timestamp, end, beginning, events: stored, isCorrected: false, state: last };
}

/** The session's own values behind its events. */
function valuesAfter(beginning: Members, events: Planned['events']): Members {
  const state: Record<string, unknown> = {};
  const write = (delta: Members, deleted: ReadonlySet<string>): void => {
    for (const name of Object.keys(delta).filter((each) => nameOf(each)[0] === 'session')) {
      if (deleted.has(name)) {
        delete state[name];
      } else {
        put(state, name, delta[name]);
      }
    }
  };
  write(beginning, new Set());
  for (const { actions, customMetadata } of events) {
    write(actions?.stateDelta ?? {}, new Set(storedDeletions(customMetadata)));
  }
  return state;
}
