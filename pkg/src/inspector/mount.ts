// Puts an inspector into a page.

import { StatepadInspector } from './shell/inspector.js';
import { Inspection } from './model/inspection.js';
import type { InspectorSource } from './model/source.js';
import type { Session, SessionKey } from '../index.js';

/** A message that a user has typed, and its session. */
export type Send = (session: Session, text: string) => Promise<void>;

/** Options of {@link mount}. */
export interface InspectorOptions {
  /** The sessions to show: a `SessionService`, a client of `statepad/client`, or anything with the same methods. */
  readonly source: InspectorSource;
  /** The name of the source, for people: `sessions.db`. */
  readonly label?: string | undefined;
  /** The session to begin with; the newest one by default. */
  readonly session?: SessionKey | undefined;
  /** The apps to choose sessions from; those of `listApps` by default. */
  readonly apps?: readonly string[] | undefined;
  /** True to offer edits, forks and deletions, where the source has them; `false` by default. */
  readonly write?: boolean | undefined;
  /** The instruction template to begin with; of a session, if it is a function. */
  readonly template?: string | ((session: Session) => string | undefined) | undefined;
  /** Answers typed messages. Without it there is nobody to talk to, and the inspector says so. */
  readonly send?: Send | undefined;
  /** A hint in the empty field for messages, as an example of a message. */
  readonly sendHint?: string | undefined;
}

/** A mounted inspector. */
export interface MountedInspector {
  /** The element in the page. Its tokens may be set in CSS: `--sp-accent`. */
  readonly element: HTMLElement;
  /** Shows a session. Throws when it is missing, and the errors of the source. */
  open(session: SessionKey): Promise<void>;
  /** Removes the element, and ends its watches. The source stays open. */
  dispose(): void;
}

/**
 * Mounts an inspector: it fills the element, and follows its source live. Resolves when the first session is on show,
 * or when there is none. Throws `INVALID_ARGUMENT` for a source without the methods to read, and the errors of the
 * source.
 *
 * @example
 * import { mount } from 'statepad/inspector';
 *
 * await mount(document.querySelector('#inspector'), { source: service });
 */
export async function mount(element: Element, options: InspectorOptions): Promise<MountedInspector> {
  const { source, session, write = false } = options;
  const apps = options.apps ?? (await source.listApps()).apps;
  const inspection = new Inspection(source, { apps, readOnly: !write });
  const view = new StatepadInspector();
  view.inspection = inspection;
  view.docked = true;
  element.append(view);
  const open = async (key: SessionKey): Promise<void> => await inspection.open(key);
  await inspection.list();
  const [newest] = inspection.sessions;
  if (session !== undefined) {
    await open(session);
  } else if (newest !== undefined) {
    await open({ appName: newest.appName, userId: newest.userId, sessionId: newest.id });
  }
  return {
    element: view,
    open,
    dispose: () => {
      inspection.dispose();
      view.remove();
    },
  };
}
