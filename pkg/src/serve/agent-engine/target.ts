// The target of a request, and the names of resources in answers: they repeat the path that was asked for.

import { readId, writeId } from '../../http/paths.js';
import { toBase64Url } from '../../http/base64url.js';
import type { FoundPath, VertexCall } from './wire/paths.js';
import type { Version } from './wire/schema.js';

/** The target of a request. */
export interface EngineTarget {
  readonly call: VertexCall;
  readonly version: Version;
  /** The beginning of the names of engines, as it was asked for: `projects/P/locations/L`; empty in express mode. */
  readonly location: string;
  /** The engine as it was asked for. */
  readonly engine: string;
  /** The app, which is the id of the engine; empty for an operation of a location. */
  readonly appName: string;
  /** Empty where no session is named. */
  readonly sessionId: string;
  /** The resource name of the engine or the session, as it was asked for. */
  readonly name: string;
  readonly operation: string;
}

/** The target of a path. Throws `INVALID_ARGUMENT` for ids that are malformed. */
export function engineTarget({ call, version, segments }: FoundPath): EngineTarget {
  const { project, location, engine, session, operation } = segments;
  const place = project === '' ? '' : `projects/${project}/locations/${location}`;
  const parent = engine === '' ? place : joined(place, `reasoningEngines/${engine}`);
  return {
    call,
    version,
    location: place,
    engine: parent,
    appName: engine === '' ? '' : readId(engine, 'appName'),
    sessionId: session === '' ? '' : readId(session, 'sessionId'),
    name: session === '' ? parent : `${parent}/sessions/${session}`,
    operation,
  };
}

/** The resource name of a session. */
export function sessionName({ engine }: EngineTarget, id: string): string {
  return `${engine}/sessions/${writeId(id, 'sessionId')}`;
}

/**
 * The resource name of an event: its id, which clients take from there. An id with other characters than letters,
 * digits, `-`, `_` and `.` is written as `~` and the base64url of its UTF-8.
 */
export function eventName(session: string, id: string): string {
  const isPlain = /^[\w.-]+$/.test(id) && id !== '.' && id !== '..';
  return `${session}/events/${isPlain ? id : `~${toBase64Url(id)}`}`;
}

function joined(place: string, rest: string): string {
  return place === '' ? rest : `${place}/${rest}`;
}
