// The address: it names the session, the moment, the event and the key on show, so that they survive a reload and open
// in another tab, and the browser's Back returns to the previous ones.

import type { InspectorView } from 'statepad/inspector';

/** The content of an address. */
export interface Place {
  readonly view: InspectorView;
  /** The name of the opened file that the session is in; `undefined` for the page's own sessions. */
  readonly file: string | undefined;
}

/** Parses an address; `undefined` when it names no view. */
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
      view: {
        session: { appName, userId, sessionId },
        moment: numberFrom(params.get('moment')),
        event: numberFrom(params.get('event')),
        key: params.get('key') ?? undefined,
      },
    };
  } catch {
    // It has a % that encodes nothing.
    return undefined;
  }
}

function numberFrom(text: string | null): number | undefined {
  return text !== null && /^\d{1,15}$/u.test(text) ? Number(text) : undefined;
}

/** The address of a view. */
export function hashOf({ session, moment, event, key }: InspectorView, file?: string): string {
  const { appName, userId, sessionId } = session;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries({ moment: moment?.toString(), event: event?.toString(), key })) {
    if (value !== undefined) {
      params.set(name, value);
    }
  }
  const path = `/${[appName, userId, sessionId].map(encodeURIComponent).join('/')}`;
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
