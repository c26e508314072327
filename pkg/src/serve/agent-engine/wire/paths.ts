// The paths of the API, and the names of its resources.

import type { Version } from './schema.js';

/** The methods of the API, by their names. */
export type VertexCall =
  | 'createSession'
  | 'getSession'
  | 'listSessions'
  | 'updateSession'
  | 'deleteSession'
  | 'listEvents'
  | 'appendEvent'
  | 'getOperation';

/** The target of a path. */
export interface Target {
  readonly call: VertexCall;
  readonly version: Version;
  /** The name of the resource as it was asked for, with the project by id or number. */
  readonly name: string;
  /** Both are empty in express mode. */
  readonly project: string;
  readonly location: string;
  /** Empty for an operation of a location. */
  readonly engine: string;
  readonly session: string;
  readonly operation: string;
}

const LOCATION = '(?<project>[^/]+)/locations/(?<location>[^/]+)';
/** In express mode the API key tells the project and the location. */
const SESSIONS = `(?:projects/${LOCATION}/)?reasoningEngines/(?<engine>[^/]+)/sessions`;
const SESSION = `${SESSIONS}/(?<session>[^/:]+)`;

const route = (method: string, path: string, call: VertexCall): readonly [string, RegExp, VertexCall] => [
  method,
  new RegExp(`^/(?<version>v1|v1beta1)/${path}$`),
  call,
];

const ROUTES = [
  route('POST', SESSIONS, 'createSession'),
  route('GET', SESSIONS, 'listSessions'),
  route('GET', SESSION, 'getSession'),
  route('PATCH', SESSION, 'updateSession'),
  route('DELETE', SESSION, 'deleteSession'),
  route('GET', `${SESSION}/events`, 'listEvents'),
  route('POST', `${SESSION}:appendEvent`, 'appendEvent'),
  route('GET', `${SESSION}/operations/(?<operation>[^/:]+)`, 'getOperation'),
  route('GET', `projects/${LOCATION}/operations/(?<operation>[^/:]+)`, 'getOperation'),
] as const;

/** All that the API can be asked. */
export const CALLS: readonly VertexCall[] = [...new Set(ROUTES.map(([, , call]) => call))];

/** The parts of a path, as they are written in it. Those that it does not have are empty. */
export interface Segments {
  readonly project: string;
  readonly location: string;
  readonly engine: string;
  readonly session: string;
  readonly operation: string;
}

/** The call that a path makes. */
export interface FoundPath {
  readonly call: VertexCall;
  readonly version: Version;
  readonly segments: Segments;
}

/** The call of a method at a path; `undefined` when the API has no such path. */
export function findPath(method: string, path: string): FoundPath | undefined {
  for (const [asked, pattern, call] of ROUTES) {
    const groups = asked === method ? pattern.exec(path)?.groups : undefined;
    if (groups !== undefined) {
      const { version, project = '', location = '', engine = '', session = '', operation = '' } = groups;
      return { call, version: version as Version, segments: { project, location, engine, session, operation } };
    }
  }
  return undefined;
}

/** The methods that the API has at a path. */
export function methodsAt(path: string): readonly string[] {
  return ROUTES.filter(([, pattern]) => pattern.test(path)).map(([method]) => method);
}

/** The target of a request; `undefined` when the API has no such path. */
export function targetOf(method: string, path: string): Target | undefined {
  const found = findPath(method, path);
  if (found === undefined) {
    return undefined;
  }
  const { call, version, segments } = found;
  const [project, location, engine] = [decode(segments.project), decode(segments.location), decode(segments.engine)];
  const [session, operation] = [decode(segments.session), decode(segments.operation)];
  const name = nameOf({ project, location, engine, session });
  return { call, version, name, project, location, engine, session, operation };
}

/** The name of a resource: of a session, of an engine when there is no session, or of a location. */
export function nameOf(parts: Pick<Target, 'project' | 'location' | 'engine' | 'session'>): string {
  const location = parts.project === '' ? '' : `projects/${parts.project}/locations/${parts.location}`;
  const engine = [location, parts.engine === '' ? '' : `reasoningEngines/${parts.engine}`].filter(Boolean).join('/');
  return parts.session === '' ? engine : `${engine}/sessions/${parts.session}`;
}

/** True when a session may have this id: it has 63 letters of `a-z0-9-` at most, and no hyphen at either end. */
export function isSessionId(id: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(id);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
