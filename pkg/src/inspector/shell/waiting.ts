// Waiting for the first session of a source that has none.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Inspection } from '../model/inspection.js';

type Host = ReactiveControllerHost & { readonly inspection: Inspection | undefined };

/** Follows the list of sessions while an inspection shows none, and opens the first one that appears. */
export class Waiting implements ReactiveController {
  readonly #host: Host;
  #stop: (() => void) | undefined;

  constructor(host: Host) {
    this.#host = host;
    host.addController(this);
  }

  hostUpdated(): void {
    const { inspection } = this.#host;
    if (inspection === undefined || inspection.session !== undefined) {
      this.hostDisconnected();
    } else {
      this.#stop ??= this.#follow(inspection);
    }
  }

  hostDisconnected(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  #follow(inspection: Inspection): () => void {
    const { directory } = inspection;
    // Sessions that the first reading finds are the choice of whoever has mounted the inspector.
    let wasEmpty: boolean | undefined;
    const look = (): void => {
      const [first] = directory.sessions;
      this.#host.requestUpdate();
      if (wasEmpty === undefined) {
        wasEmpty = first === undefined;
      } else if (wasEmpty && first !== undefined && inspection.session === undefined) {
        const { appName, userId, id: sessionId } = first;
        inspection
          .open({ appName, userId, sessionId })
          .catch((error: unknown) => inspection.dispatchEvent(new CustomEvent('problem', { detail: error })));
      }
    };
    directory.addEventListener('change', look);
    const unfollow = directory.follow();
    return () => {
      directory.removeEventListener('change', look);
      unfollow();
    };
  }
}
