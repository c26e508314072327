// Watching: turns a caller's request into a plan for the backend.

import { lazyIterator } from '../async/lazy-iterator.js';
import { checkTarget, checkWatchOptions, checkWholeOptions, isWhole } from '../input/requests.js';
import type { SessionBackend } from '../backend/backend.js';
import type { Lifetime } from './lifetime.js';
import type { ChangeSource, Pace } from '../watch/change-source.js';
import type { SessionKey, SessionName, UpdateStateTarget } from '../model/types.js';
import type {
  SessionChange,
  SharedChange,
  WatchedChange,
  WatchOptions,
  WatchPace,
  WholeSessionChange,
  WholeSessionKey,
  WholeWatchOptions,
} from '../model/watch.js';

/** The interval for reading a store that others can write to, in milliseconds, and the size of a page. */
const POLL_MS = 1000;
const BUFFER = 100;

/** An answer that fits every overload of `SessionService.watch`: the request decides which one applies. */
export type AnyChanges = AsyncIterableIterator<SessionChange & SharedChange & WholeSessionChange>;

/** The changes of a target. Throws `INVALID_ARGUMENT` and `CLOSED`. */
export function watchChanges(
  service: Lifetime,
  request: UpdateStateTarget | SessionName | WholeSessionKey,
  options: WatchOptions | WholeWatchOptions,
): AnyChanges {
  const target = checkTarget(request);
  const changes = isWhole(request)
    ? watchWhole(service, target as SessionKey, checkWholeOptions(options as WholeWatchOptions))
    : watchOne(service, request, target, checkWatchOptions(options as WatchOptions, target));
  return changes as AnyChanges;
}

function watchOne(service: Lifetime, request: object, target: UpdateStateTarget, options: WatchOptions): Changes {
  const { since, initial = false, buffer = BUFFER } = options;
  service.refuseWhenClosed();
  const view = service.view(request);
  const shown = view && { record: view.record, revision: view.revision };
  const plan = { target, since, initial, pace: paceOf(options), buffer, shown };
  return iterate(service, options, async (sessions) => await sessions.watch(plan));
}

function watchWhole(service: Lifetime, target: SessionKey, options: WholeWatchOptions): Changes {
  const { since, initial = true, buffer = BUFFER } = options;
  service.refuseWhenClosed();
  const plan = { target, since, initial, pace: paceOf(options), buffer };
  return iterate(service, options, async (sessions) => await sessions.watchWhole(plan));
}

function paceOf({ poll = POLL_MS, background = false }: WatchPace): Pace {
  return { poll, background };
}

type Changes = AsyncIterableIterator<WatchedChange | WholeSessionChange>;

function iterate<Change extends WatchedChange | WholeSessionChange>(
  service: Lifetime,
  { signal, buffer = BUFFER }: WatchOptions | WholeWatchOptions,
  open: (sessions: SessionBackend) => Promise<ChangeSource<Change>>,
): AsyncIterableIterator<Change> {
  return lazyIterator(async () => {
    const sessions = await service.begin({ signal });
    // Loaded at the first watch.
    const { ChangeIterator } = await import('../watch/change-iterator.js');
    return new ChangeIterator(await open(sessions), buffer, signal);
  });
}
