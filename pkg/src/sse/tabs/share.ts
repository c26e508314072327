// Sharing one connection among the tabs of an origin.

import { admitString, checkObject, checkOptions, invalid } from '../../checks/arguments.js';
import { keyOf } from '../targets.js';
import { polled } from './polling.js';
import { TabGroup } from './tab-group.js';
import type { TabHost } from './election.js';
import type { SessionKey } from '../../model/types.js';
import type { SessionSource, WatchOptions, WatchTarget, WholeWatchOptions } from '../../model/watch.js';

/** How the tabs of an origin share one connection. */
export interface TabSharing {
  /**
   * Tells whose connection it is: tabs whose sources have the same `url` and the same `key` share one, and what the
   * server tells one of them is told to all. It must be another one for every user, such as the user's id or a name of
   * the login. Of it, others see a hash alone.
   */
  readonly key: string;
}

/**
 * A source that shares with other tabs what is watched of whole sessions: one of the tabs holds the connection. Where
 * a page has no Web Locks, as over plain HTTP from another machine, it holds none and reads the sessions every
 * other second. Outside of pages and workers nothing is shared.
 */
export function sharedByTabs(source: SessionSource, url: string | URL, sharing: TabSharing): SessionSource {
  checkObject(sharing, 'shareTabs');
  checkOptions(sharing, ['key'], 'shareTabs');
  const key = admitString(sharing.key, 'shareTabs.key');
  if (key === '') {
    invalid('shareTabs.key', 'must tell whose connection it is: it is empty');
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

/** A source that watches whole sessions in another way. */
function withWhole(source: SessionSource, watchWhole: WatchWhole): SessionSource {
  const watch = (target: WatchTarget, options: WholeWatchOptions | WatchOptions = {}): unknown => {
    const { target: key, whole } = keyOf(target);
    return whole
      ? watchWhole(key as SessionKey, options as WholeWatchOptions)
      : source.watch(key, options as WatchOptions);
  };
  return { ...source, watch: watch as SessionSource['watch'] };
}

/** What this host has; `undefined` where something is missing. */
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

/** The name of the group: a hash, so that a key that is a secret is none less. */
async function nameOf(url: string | URL, key: string): Promise<string> {
  const text = JSON.stringify([new URL(url, location.href).href, key]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return `statepad ${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
