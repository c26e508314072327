// The operations without a store that few services need: see `BackendAccess`. Loaded at the first call.

import { compareText } from '../model/compare-text.js';
import { LAST_EVENT } from '../session/event-window.js';
import { creationOf, type BackendAccess } from './backend-access.js';
import type { SessionRegistry } from '../session/registry.js';
import type { SharedLogs } from '../session/shared-logs.js';
import type { NamePage, NameQuery } from '../store/contract.js';

/** See `BackendAccess`. `sessions` are those that have not expired. */
export function memoryAccess(sessions: () => SessionRegistry, logs: SharedLogs): BackendAccess {
  const hasValues = (appName: string, userId?: string): boolean =>
    sessions()
      .valuesOf({ appName, userId })
      .values.some((value) => value !== undefined);
  const usersOf = (appName: string): string[] => {
    const withValues = [...logs.names(appName)].filter((userId) => hasValues(appName, userId));
    return [...new Set([...sessions().names(appName), ...withValues])];
  };
  return {
    hasOwners: true,
    hasLeases: true,
    owners: (appName, sessionId) => [...sessions().owners(appName, sessionId)].sort(compareText),
    listApps: (query) => {
      const withValues = [...logs.names()].filter((appName) => hasValues(appName) || usersOf(appName).length > 0);
      return pageOf([...new Set([...sessions().names(), ...withValues])], query);
    },
    listUsers: (appName, query) => pageOf(usersOf(appName), query),
    current: (key) => {
      const registry = sessions();
      const record = registry.find(key);
      return record && registry.read(record, LAST_EVENT);
    },
    events: (key, { from, limit = Infinity }) => {
      const record = sessions().find(key);
      return record && { events: record.events.slice(from - 1, from - 1 + limit), revision: record.revision };
    },
    creation: (key) => {
      const record = sessions().find(key);
      return record && creationOf(record.created, record.creation);
    },
  };
}

/** The page of some names that a query asks for. */
function pageOf(names: string[], { after, limit = Infinity }: NameQuery): NamePage {
  const behind = after === undefined ? names : names.filter((name) => compareText(name, after) > 0);
  behind.sort(compareText);
  return { names: behind.slice(0, limit), more: behind.length > limit };
}
