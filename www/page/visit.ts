// Shows the content of an address, as far as it exists.

import type { Inspection } from '../inspector/model/inspection.js';
import type { Place } from './address.js';

/** True when an inspection shows the session of a place. */
function isOnShow({ session }: Inspection, { appName, userId, sessionId }: Place): boolean {
  return session?.appName === appName && session.userId === userId && session.id === sessionId;
}

/**
 * Makes an inspection show a place. Answers its missing parts, as sentences. Throws when the session is missing, and
 * the errors of reading.
 */
export async function visit(inspection: Inspection, place: Place): Promise<readonly string[]> {
  if (!isOnShow(inspection, place)) {
    await inspection.open(place);
  }
  const last = inspection.session?.revision ?? 0;
  const { moment, event, key } = place;
  const missing: string[] = [];
  const within = (revision: number | undefined, what: string): number | undefined => {
    if (revision === undefined || revision <= last) {
      return revision;
    }
    missing.push(`The link leads to ${what} ${revision}, but the session has ${count(last, 'event')}.`);
    return undefined;
  };
  const at = within(moment, 'moment');
  await inspection.moveTo(at === last ? undefined : at);
  const shown = within(event, 'event');
  inspection.select(shown === 0 ? undefined : shown);
  inspection.trace(key);
  return missing;
}

/** A count with its noun: "1 event", "2 events". */
export function count(number: number, of: string): string {
  return `${number.toLocaleString('en')} ${of}${number === 1 ? '' : 's'}`;
}
