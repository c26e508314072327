// `watch` of a client: turns a caller's request into a reader.

import { OpenIterators } from './open-iterators.js';
import { sharedByTabs, type WatchWhole } from './tabs/share.js';
import { Watches } from './watches.js';
import { getSession } from '../reading.js';
import { addressOf } from '../server.js';
import { eventPlace } from '../../http/watch-wire.js';
import { checkTarget, checkWatchOptions, checkWholeOptions, isWhole } from '../../input/requests.js';
import { defined } from '../../model/defined.js';
import type { Calls } from '../calls.js';
import type { CheckedConnection } from '../options.js';
import type { SessionKey, SessionName, UpdateStateTarget } from '../../model/types.js';
import type {
  SessionChange,
  SessionSource,
  SharedChange,
  WatchOptions,
  WholeSessionChange,
  WholeSessionKey,
  WholeWatchOptions,
} from '../../model/watch.js';

/** An answer that fits every overload of `watch`: the request decides which one applies. */
type AnyChanges = AsyncIterableIterator<SessionChange & SharedChange & WholeSessionChange, undefined>;

/** The watches of one client. */
export interface ClientWatches {
  /** Watches a target. Throws `INVALID_ARGUMENT`. */
  watch(
    target: UpdateStateTarget | SessionName | WholeSessionKey,
    options: WatchOptions | WholeWatchOptions,
  ): AnyChanges;
  /** Ends all of them. */
  close(): void;
}

/** The watches of a client, those of whole sessions shared with other tabs if an option says so. */
export function watchesOf(calls: Calls, { server, silence, shareTabs }: CheckedConnection): ClientWatches {
  const watches = new Watches(server, silence);
  const open = new OpenIterators();
  const own: WatchWhole = (key, options) => watches.watchWhole(key, options) as ReturnType<WatchWhole>;
  const source = {
    getSession: async ({ config, signal, ...key }) => await getSession(calls, key, config, signal),
    watch: own,
  } as SessionSource;
  const watchWhole = (shareTabs && sharedByTabs(source, addressOf(server, ''), shareTabs)) ?? own;
  return {
    watch: (request, options) => {
      const { appName, userId, sessionId } = checkTarget(request);
      const target = defined({ appName, userId, sessionId });
      if (isWhole(request)) {
        return open.add(
          watchWhole(target as SessionKey, checkWholeOptions(options as WholeWatchOptions)),
        ) as AnyChanges;
      }
      const checked = checkWatchOptions(options as WatchOptions, target);
      const view = calls.view(request);
      const { since } = checked;
      const place = since === undefined ? view && eventPlace(view.revision, view.log.at(-1)?.id) : { at: since };
      return open.add(watches.watch(target, place, checked)) as AnyChanges;
    },
    close: () => open.close(),
  };
}
