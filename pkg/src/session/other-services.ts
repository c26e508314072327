// Errors for sessions of other services in memory. A bundler or a hot reload may run the module that creates the
// service more than once: each run creates a service with sessions of its own, and the error says so.

import { StatepadError } from '../model/errors.js';
import { viewOf } from './handle.js';
import { isAnyHandle } from '../model/handle-kind.js';
import type { SessionKey } from '../model/types.js';

/** A service in memory of this process, possibly of another copy of the package. */
interface MemoryService {
  has(key: SessionKey): boolean;
}

/** The list of services, shared by all copies of the package. */
const servicesSymbol = Symbol.for('statepad.servicesInMemory');

/** The list is swept of collected services when it has at least this length. */
const MIN_SWEEP = 16;

interface MemoryServices {
  refs: WeakRef<MemoryService>[];
  sweepAt: number;
}

/** Registers a service in memory, by a weak reference. */
export function registerService(shelf: MemoryService): void {
  // Some edge runtimes have no weak references: errors are less specific there.
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
  'bundlers and hot reloads may run the module that creates the service more than once: keep the service on globalThis';

/** The error for a session that a service in memory does not have. `session` is the caller's argument. */
export function notFoundInMemory(key: SessionKey, session?: unknown): StatepadError {
  const { sessionId: id } = key;
  const refs = (globalThis as { [servicesSymbol]?: MemoryServices | undefined })[servicesSymbol]?.refs ?? [];
  const isElsewhere = refs.some((ref) => ref.deref()?.has(key)) || isAnyHandle(session);
  const more = isElsewhere ? ` in this service: it is one of ${serviceOf(session)}. ${REMEDY}` : '';
  return new StatepadError('SESSION_NOT_FOUND', `session "${id}" not found${more}`, { id });
}

/** The error for a session that is no handle of the service. */
export function foreignHandle(session: unknown): StatepadError {
  const more = isAnyHandle(session) ? `; this one is of ${serviceOf(session)}. ${REMEDY}` : '';
  return new StatepadError('INVALID_ARGUMENT', `session must be a handle of this service${more}`, {
    path: 'session',
  });
}

/** Describes the service of a foreign session. */
function serviceOf(session: unknown): string {
  const isOfCopy = isAnyHandle(session) && viewOf(session) === undefined;
  return isOfCopy ? 'a service of another copy of statepad' : 'another service of this process';
}
