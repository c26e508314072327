// The paths of statepad's own routes, and the ids in them.

import { fromBase64Url, toBase64Url } from './base64url.js';
import { invalid } from '../checks/arguments.js';
import { isWellFormed } from '../model/json.js';

const APP = '/v1/apps/{appName}';
const USER = `${APP}/users/{userId}` as const;
const SESSION = `${USER}/sessions/{sessionId}` as const;

/** The templates of the paths, below the address of the server. A name in braces stands for an id. */
export const PATHS = {
  apps: '/v1/apps',
  sweep: '/v1/apps:sweep',
  sweepApp: `${APP}:sweep`,
  users: `${APP}/users`,
  appState: `${APP}/state`,
  userState: `${USER}/state`,
  sessionState: `${SESSION}/state`,
  updateAppState: `${APP}/state:update`,
  updateUserState: `${USER}/state:update`,
  updateSessionState: `${SESSION}/state:update`,
  appSessions: `${APP}/sessions`,
  sessions: `${USER}/sessions`,
  getOrCreateSession: `${USER}/sessions:getOrCreate`,
  session: SESSION,
  events: `${SESSION}/events`,
  rewind: `${SESSION}:rewind`,
  redo: `${SESSION}:redo`,
  fork: `${SESSION}:fork`,
  sessionHistory: `${SESSION}/history`,
  appHistory: `${APP}/history`,
  userHistory: `${USER}/history`,
  trimAppHistory: `${APP}/history:trim`,
  trimUserHistory: `${USER}/history:trim`,
  lease: `${SESSION}/lease`,
  renewLease: `${SESSION}/lease:renew`,
  watch: '/v1/watch',
  description: '/openapi.json',
  health: '/healthz',
  readiness: '/readyz',
} as const;

/** The names of the ids in a template. */
export type IdsOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? Name | IdsOf<Rest>
  : never;

/** The path that a template makes with these ids. Throws `INVALID_ARGUMENT` for an id with a lone surrogate. */
export function pathTo<Template extends string>(
  template: Template,
  ids: Readonly<Record<IdsOf<Template>, string>>,
): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) =>
    writeId((ids as Record<string, string>)[name] ?? '', name),
  );
}

/**
 * An id as the segment of a path. Most are written by `encodeURIComponent`. An id that a URL or a proxy would change
 * on the way (`..`, or one with a slash) is written as `~` and the base64url of its UTF-8. Throws `INVALID_ARGUMENT`,
 * with `name`, for an id with a lone surrogate.
 */
export function writeId(id: string, name: string): string {
  if (!isWellFormed(id)) {
    invalid(name, 'must be a string without lone surrogates');
  }
  return isAwkward(id) ? `~${toBase64Url(id)}` : encodeURIComponent(id);
}

/**
 * The id in a segment of a path. Throws `INVALID_ARGUMENT`, with `name`, for escapes that are malformed, and for an id
 * that has to be written otherwise: each has one spelling, but for its escapes.
 */
export function readId(segment: string, name: string): string {
  const text = unescaped(segment, name);
  if (!text.startsWith('~')) {
    return isAwkward(text) ? invalid(name, `must be written as ~${toBase64Url(text)} in a path`) : text;
  }
  const id = fromBase64Url(text.slice(1));
  if (id === undefined) {
    invalid(name, 'is malformed: after a ~ comes the base64url of its UTF-8, without padding');
  }
  return isAwkward(id) ? id : invalid(name, `must be written as ${encodeURIComponent(id)} in a path`);
}

/** True for an id that does not survive as itself in the path of a URL, or that would be read as another one. */
function isAwkward(id: string): boolean {
  return id === '' || id === '.' || id === '..' || id.startsWith('~') || /[/\\]/.test(id);
}

function unescaped(segment: string, name: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return invalid(name, 'has a malformed escape');
  }
}
