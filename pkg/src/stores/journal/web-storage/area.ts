// The parts of a page that are used: its storages, and the locks that its origin shares.

/** The part of a `Storage` that is needed. */
export interface StorageArea {
  readonly length: number;
  key(index: number): string | null;
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** The part of `navigator.locks` that is needed. */
export interface StorageLocks {
  request(
    name: string,
    options: { readonly mode: 'exclusive'; readonly ifAvailable: true },
    callback: (lock: object | null) => Promise<unknown>,
  ): Promise<unknown>;
}

interface Page {
  readonly localStorage?: StorageArea;
  readonly sessionStorage?: StorageArea;
  readonly navigator?: { readonly locks?: StorageLocks };
}

/** A storage of the page; `undefined` where there is none, or the page is not allowed to use it. */
export function areaOfPage(name: 'localStorage' | 'sessionStorage'): StorageArea | undefined {
  try {
    return (globalThis as Page)[name];
  } catch {
    return undefined;
  }
}

/** The locks of the page's origin; `undefined` in pages that come neither by https nor from localhost. */
export function locksOfPage(): StorageLocks | undefined {
  return (globalThis as Page).navigator?.locks;
}
