// The address: it names the session, the moment, the event and the key on show, so that they survive a reload and open
// in another tab, and the browser's Back returns to the previous ones.

import type { SessionKey } from 'statepad';
import type { Inspection } from '../inspector/model/inspection.js';

/** The content of an address. */
export interface Place extends SessionKey {
  /** The name of the opened file that the session is in; `undefined` for the page's own sessions. */
  readonly file: string | undefined;
  /** The revision on show; `undefined` for the current one. */
  readonly moment: number | undefined;
  /** The revision of the event that is shown in full. */
  readonly event: number | undefined;
  /** The key whose history is shown. */
  readonly key: string | undefined;
}

/** Parses an address; `undefined` when it is not one of the page's. */
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

/** The address for an inspection, once it has a session. */
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

/** Keys that continue the gesture of the one before: they are no step of their own for Back. */
const GLIDING = new Set(['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End']);

/**
 * Keeps the browser's address up to date. Each gesture, such as a click, a drag or a run of arrow keys, is one step
 * for Back, no matter how much it changes; changes without a gesture are none.
 */
export class Address {
  /** Counts gestures. */
  #gesture = 0;
  /** The gesture that made the last step for Back. */
  #step = 0;
  #isGliding = false;
  readonly #listeners = new AbortController();

  /** `moved` is called when the user goes back or forth, or edits the address. */
  constructor(moved: () => void) {
    const { signal } = this.#listeners;
    window.addEventListener('popstate', moved, { signal });
    window.addEventListener('pointerdown', () => this.#begin(false), { signal, capture: true });
    window.addEventListener('drop', () => this.#begin(false), { signal, capture: true });
    window.addEventListener('keydown', ({ key }) => this.#begin(GLIDING.has(key)), { signal, capture: true });
  }

  /** Shows an address. */
  show(hash: string): void {
    // Even setting the same one would cost some ms.
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

  /** Replaces the current address. */
  correct(hash: string): void {
    history.replaceState(null, '', hash);
  }

  /** Begins a new step for Back. */
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
