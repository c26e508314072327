// The address names what is looked at: the session, the moment, the event and the key. So it is the same after a
// reload and in another tab, and the browser's Back leads to what was looked at before.

import type { SessionKey } from 'statepad';
import type { Inspection } from '../inspector/model/inspection.js';

/** What an address names. */
export interface Place extends SessionKey {
  /** The name of the opened file that the session is in; `undefined` for the page's own sessions. */
  readonly file: string | undefined;
  /** The revision that is shown; `undefined` for now. */
  readonly moment: number | undefined;
  /** The revision of the event that is shown whole. */
  readonly event: number | undefined;
  /** The key whose history is shown. */
  readonly key: string | undefined;
}

/** What an address names; `undefined` when it names nothing that the page knows. */
export function placeFrom(hash: string): Place | undefined {
  const [, file, path = '', query = ''] = /^#(?:file:([^/?]*))?\/([^?]*)(?:\?(.*))?$/u.exec(hash) ?? [];
  const parts = path.split('/');
  if (parts.length !== 3) {
    return undefined;
  }
  try {
    const [appName = '', userId = '', sessionId = ''] = parts.map(decodeURIComponent);
    const params = new URLSearchParams(query);
    return {
      file: file === undefined ? undefined : decodeURIComponent(file),
      ...{ appName, userId, sessionId },
      moment: numberFrom(params.get('moment')),
      event: numberFrom(params.get('event')),
      key: params.get('key') ?? undefined,
    };
  } catch {
    // It has a % that encodes nothing.
    return undefined;
  }
}

function numberFrom(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/u.test(text) ? Number(text) : undefined;
}

/** The address of what an inspection shows, once it has a session. */
export function hashOf({ session, isNow, revision, selected, traced }: Inspection, file?: string): string | undefined {
  if (session === undefined) {
    return undefined;
  }
  const { appName, userId, id } = session;
  const params = new URLSearchParams();
  for (const [name, value] of [
    ['moment', isNow ? undefined : String(revision)],
    ['event', selected === undefined ? undefined : String(selected)],
    ['key', traced],
  ] as const) {
    if (value !== undefined) {
      params.set(name, value);
    }
  }
  const path = `/${[appName, userId, id].map(encodeURIComponent).join('/')}`;
  const query = params.size === 0 ? '' : `?${params.toString()}`;
  return `#${file === undefined ? '' : `file:${encodeURIComponent(file)}`}${path}${query}`;
}

/** Keys that go on with what the one before has begun: they make no step of their own for Back. */
const GLIDING = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End']);

/**
 * Has the browser's address name what is looked at. Each gesture, such as a click, a drag or a run of arrow keys, is
 * one step for Back, however much it has changed; what changes by itself is none.
 */
export class Address {
  /** Counts gestures. */
  #gesture = 0;
  /** The gesture that the last step for Back was made by. */
  #step = 0;
  #isGliding = false;
  readonly #listeners = new AbortController();

  /** `moved` is told when the user goes back or forth, or edits the address. */
  constructor(moved: () => void) {
    const { signal } = this.#listeners;
    window.addEventListener('popstate', moved, { signal });
    window.addEventListener('pointerdown', () => this.#begin(false), { signal, capture: true });
    window.addEventListener('drop', () => this.#begin(false), { signal, capture: true });
    window.addEventListener('keydown', ({ key }) => this.#begin(GLIDING.has(key)), { signal, capture: true });
  }

  /** Shows an address. */
  show(hash: string): void {
    // Even the same one would cost some ms.
    if (location.hash === hash) {
      return;
    }
    if (this.#step === this.#gesture) {
      history.replaceState(null, '', hash);
    } else {
      this.#step = this.#gesture;
      history.pushState(null, '', hash);
    }
  }

  /** Shows another address in place of the one that is there. */
  correct(hash: string): void {
    history.replaceState(null, '', hash);
  }

  /** What is shown next is a step of its own for Back. */
  begin(): void {
    this.#begin(false);
  }

  /** Ends listening. */
  dispose(): void {
    this.#listeners.abort();
  }

  #begin(isGliding: boolean): void {
    if (!isGliding || !this.#isGliding) {
      this.#gesture += 1;
    }
    this.#isGliding = isGliding;
  }
}
