// Sessions that another service has: a bundler or a hot reload that runs the module twice which makes a service makes
// two services, and each has sessions of its own. An error that comes of it says so.

import { StatepadError } from '../model/errors.js';
import { isAnyHandle, viewOf } from './handle.js';
import type { SessionKey } from '../model/types.js';

/** What can be asked about the services in memory of this process, those of other copies of the package included. */
interface MemoryService {
  has(key: SessionKey): boolean;
}

/** All copies of the package find the list here. */
const servicesSymbol = Symbol.for('statepad.servicesInMemory');

/** Those of which there are at least so many are looked through for services that are gone. */
const MIN_SWEEP = 16;

interface MemoryServices {
  refs: WeakRef<MemoryService>[];
  sweepAt: number;
}

/** Notes a service in memory, for as long as it is used: the note does not keep it. */
export function registerService(shelf: MemoryService): void {
  // Some edge runtimes have no weak references: errors say less there.
  if (typeof WeakRef !== 'function') {
    return;
  }
  const shelves = ((globalThis as { [servicesSymbol]?: MemoryServices | undefined })[servicesSymbol] ??= {
    refs: [],
    sweepAt: MIN_SWEEP,
  });
  if (shelves.refs.length >= shelves.sweepAt) {
    shelves.refs = shelves.refs.filter((ref) => ref.deref() !== undefined);
    shelves.sweepAt = Math.max(MIN_SWEEP, shelves.refs.length * 2);
  }
  shelves.refs.push(new WeakRef(shelf));
}

const REMEDY =
  'bundlers and hot reloads may run the module that makes the service more than once: keep the service on globalThis';

/** The error for a session that a service in memory does not have. `session` is what the caller gave. */
export function notFoundInMemory(key: SessionKey, session?: unknown): StatepadError {
  const { sessionId: id } = key;
  const refs = (globalThis as { [servicesSymbol]?: MemoryServices | undefined })[servicesSymbol]?.refs ?? [];
  const isElsewhere = refs.some((ref) => ref.deref()?.has(key)) || isAnyHandle(session);
  const more = isElsewhere ? ` in this service: it is one of ${serviceOf(session)}. ${REMEDY}` : '';
  return new StatepadError('SESSION_NOT_FOUND', `session "${id}" not found${more}`, { id });
}

/** The error for a session that is no handle of the service it was given to. */
export function foreignHandle(session: unknown): StatepadError {
  const more = isAnyHandle(session) ? `; this one is of ${serviceOf(session)}. ${REMEDY}` : '';
  return new StatepadError('INVALID_ARGUMENT', `session must be a handle that this service gave${more}`, {
    path: 'session',
  });
}

/** Whose a session is that is not the asked service's. */
function serviceOf(session: unknown): string {
  const isOfCopy = isAnyHandle(session) && viewOf(session) === undefined;
  return isOfCopy ? 'a service of another copy of statepad' : 'another service of this process';
}
