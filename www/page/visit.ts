// Going to what an address names, as far as it is there.

import type { Inspection } from '../inspector/model/inspection.js';
import type { Place } from './address.js';

/** True when an inspection shows the session of a place. */
function isThere({ session }: Inspection, { appName, userId, sessionId }: Place): boolean {
  return session?.appName === appName && session.userId === userId && session.id === sessionId;
}

/**
 * Has an inspection show what a place names. Answers what of it is not there, as sentences. Throws when the session is
 * not there, and what reading throws.
 */
export async function visit(inspection: Inspection, place: Place): Promise<readonly string[]> {
  if (!isThere(inspection, place)) {
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

/** A number of things in words. */
export function count(number: number, of: string): string {
  return `${number.toLocaleString('en')} ${of}${number === 1 ? '' : 's'}`;
}
