// Sharing one connection among the tabs of an origin.

import { polled } from './polling.js';
import { TabGroup } from './tab-group.js';
import type { TabHost } from './election.js';
import type { TabSharing } from './sharing.js';
import type { SessionKey } from '../../../model/types.js';
import type { SessionSource, WholeSessionChange, WholeWatchOptions } from '../../../model/watch.js';

/** Watches a whole session. */
export type WatchWhole = (
  key: SessionKey,
  options: WholeWatchOptions,
) => AsyncIterableIterator<WholeSessionChange, undefined>;

/**
 * Watches of whole sessions that are shared with other tabs: one of the tabs holds the connection. Where a page has no
 * Web Locks, as over plain HTTP from another machine, it holds none and reads the sessions every other second.
 * `undefined` outside of pages and workers, where nothing is shared.
 */
export function sharedByTabs(source: SessionSource, url: string, { key }: TabSharing): WatchWhole | undefined {
  const host = hostOf();
  if (host === undefined) {
    return typeof document === 'undefined' ? undefined : (whole, options) => polled(source, whole, options);
  }
  const group = new TabGroup(source, nameOf(url, key), host);
  return (whole, options) => group.watch(whole, options);
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
async function nameOf(url: string, key: string): Promise<string> {
  const text = JSON.stringify([new URL(url, location.href).href, key]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return `statepad ${[...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
