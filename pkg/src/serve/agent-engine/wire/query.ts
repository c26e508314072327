// The parameters of an address: those of a call, and those that all calls take.

import { unreadable, type Violation } from './errors.js';
import { protoNameOf } from './schema.js';
import { readScalar } from './scalars.js';
import type { VertexCall } from './paths.js';

const LISTS = ['pageSize', 'pageToken', 'filter', 'orderBy'];

/** The parameters of each call, by their names in JSON. */
const PARAMETERS: Readonly<Partial<Record<VertexCall, readonly string[]>>> = {
  createSession: ['sessionId'],
  listSessions: LISTS,
  listEvents: LISTS,
  updateSession: ['updateMask'],
};

/** The parameters that every API of Google accepts, with a dollar sign or without. */
const COMMON = new Set(
  'alt access_token callback fields key oauth_token prettyPrint quotaUser uploadType upload_protocol .xgafv'.split(
    ' ',
  ),
);

/** The parameters of a call, by their names in JSON. */
export type Query = Readonly<Record<string, string | undefined>>;

/** Reads the parameters of a call. Throws when it does not have one of them. */
export function readQuery(call: VertexCall, given: URLSearchParams): Query {
  const known = PARAMETERS[call] ?? [];
  const read: Record<string, string> = {};
  const violations: Violation[] = [];
  for (const [name, value] of given) {
    const parameter = known.find((one) => one === name || protoNameOf(one) === name);
    if (parameter !== undefined) {
      read[parameter] = value;
    } else if (!COMMON.has(name.replace(/^\$/, ''))) {
      violations.push({ description: unbound(name) });
    }
  }
  if (read['pageSize'] !== undefined && readScalar('int32', read['pageSize']) === undefined) {
    const description = `Invalid value at 'page_size' (TYPE_INT32), ${JSON.stringify(read['pageSize'])}`;
    violations.push({ field: 'page_size', description });
  }
  if (violations.length > 0) {
    throw unreadable(violations);
  }
  return read;
}

function unbound(name: string): string {
  const reason = `Cannot bind query parameter. Field '${name}' could not be found in request message.`;
  return `Invalid JSON payload received. Unknown name ${JSON.stringify(name)}: ${reason}`;
}
