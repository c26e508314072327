// The lines of all sessions of a source that are meant: those of its apps, one after the other.

import { isMeant, type Selection } from './filter.js';
import { appsIn } from '../sources/walk.js';
import { exportLines, type ExportOptions } from '../../jsonl.js';
import type { SessionOperations } from '../../client.js';

/** The most events that a service keeps in memory while each session is read once. */
export const CACHED_EVENTS = 2_000;

/** The lines, as `exportLines` makes them for each app. `onApp` receives the name of each app before its lines. */
export async function* exportedLines(
  source: SessionOperations,
  { filter, since }: Selection,
  options: ExportOptions & { readonly onApp?: (appName: string) => void } = {},
): AsyncGenerator<string, void, undefined> {
  const { onApp, ...rest } = options;
  const hasNames = !(filter.user.isOpen && filter.session.isOpen);
  for await (const appName of appsIn(source, filter)) {
    onApp?.(appName);
    const { only: userId } = filter.user;
    yield* exportLines(
      source,
      { appName, userId },
      { ...rest, since, ...(hasNames && { only: (key) => isMeant(filter, key) }) },
    );
  }
}
