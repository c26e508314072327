// Sharing one connection among the tabs of an origin.

import { admitString, checkObject, checkOptions, invalid } from '../../../checks/arguments.js';
import { keyOf } from '../../../http/watch-targets.js';
import { polled } from './polling.js';
import { TabGroup } from './tab-group.js';
import type { TabHost } from './election.js';
import type { SessionKey } from '../../../model/types.js';
import type { SessionSource, WatchOptions, WatchTarget, WholeWatchOptions } from '../../../model/watch.js';

/** Options for sharing one connection among the tabs of an origin. */
export interface TabSharing {
  /**
   * The owner of the connection: tabs whose sources have the same `url` and the same `key` share one, and all of them
   * get the server's messages for any of them. It must differ for every user: the user's id, for example, or a name
   * of the login. Others see only a hash of it.
   */
  readonly key: string;
}

/**
 * A source that shares its watches of whole sessions with other tabs: one of the tabs holds the connection. Where a
 * page has no Web Locks, as over plain HTTP from another machine, it holds none and reads the sessions every other
 * second. Outside of pages and workers nothing is shared.
 */
export function sharedByTabs(source: SessionSource, url: string | URL, sharing: TabSharing): SessionSource {
  checkObject(sharing, 'shareTabs');
  checkOptions(sharing, ['key'], 'shareTabs');
  const key = admitString(sharing.key, 'shareTabs.key');
  if (key === '') {
    invalid('shareTabs.key', 'must identify the user of the connection: it is empty');
  }
  const host = hostOf();
  if (host === undefined) {
    return typeof document === 'undefined'
      ? source
      : withWhole(source, (whole, options) => polled(source, whole, options));
  }
  const group = new TabGroup(source, nameOf(url, key), host);
  return withWhole(source, (whole, options) => group.watch(whole, options));
}

type WatchWhole = (key: SessionKey, options: WholeWatchOptions) => ReturnType<TabGroup['watch']>;

/** A source with another way to watch whole sessions. */
function withWhole(source: SessionSource, watchWhole: WatchWhole): SessionSource {
  const watch = (target: WatchTarget, options: WholeWatchOptions | WatchOptions = {}): unknown => {
    const { target: key, whole } = keyOf(target);
    return whole
      ? watchWhole(key as SessionKey, options as WholeWatchOptions)
      : source.watch(key, options as WatchOptions);
  };
  return { ...source, watch: watch as SessionSource['watch'] };
}

/** The needed parts of this host; `undefined` if one is missing. */
function hostOf(): TabHost | undefined {
  const { BroadcastChannel: Channel, navigator, crypto } = globalThis as Partial<typeof globalThis>;
  const locks = (navigator as { readonly locks?: LockManager } | undefined)?.locks;
  const isInBrowser = typeof location !== 'undefined';
  if (!isInBrowser || locks === undefined || Channel === undefined || crypto?.subtle === undefined) {
    return undefined;
  }
  const page = typeof document === 'undefined' ? undefined : { window, document };
  return { locks, openChannel: (name) => new Channel(name), page };
}

/** The name of the group: a hash, so that a secret key stays secret. */
async function nameOf(url: string | URL, key: string): Promise<string> {
  const text = JSON.stringify([new URL(url, location.href).href, key]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return `statepad ${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
