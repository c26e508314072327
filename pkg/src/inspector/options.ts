// The options of an inspector that is mounted into a page, and its handle.

import type { InspectorSource } from './model/source.js';
import type { InspectorView } from './view.js';
import type { Session } from '../index.js';

/** A message that a user has typed, and its session. */
export type Send = (session: Session, text: string) => Promise<void>;

/** Options of `mount`. */
export interface InspectorOptions {
  /** The sessions to show: a `SessionService`, a client of `statepad/client`, or anything with the same methods. */
  readonly source: InspectorSource;
  /** The name of the source, for people: `sessions.db`. */
  readonly label?: string | undefined;
  /** The view to begin with; the newest session by default. */
  readonly view?: InspectorView | undefined;
  /** Called with the new view whenever it has changed: for an address that names it. */
  readonly onView?: ((view: InspectorView) => void) | undefined;
  /** Called with the theme at the beginning, and when another one is chosen: for the page around the inspector. */
  readonly onTheme?: ((theme: 'system' | 'light' | 'dark') => void) | undefined;
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
  /** The view on show; `undefined` while there is no session. */
  readonly view: InspectorView | undefined;
  /**
   * Shows a view. Resolves to the parts of it that the session does not have, as sentences. Throws when the session is
   * missing, and the errors of the source.
   */
  show(view: InspectorView): Promise<readonly string[]>;
  /** Removes the element, and ends its watches. The source stays open. */
  dispose(): void;
}

/** An inspector over a page: a button in its corner, and a panel that the button opens. */
export interface InspectorOverlay {
  /** The element in the page. */
  readonly element: HTMLElement;
  /** Opens the panel. Resolves when its inspector is on show. */
  open(): Promise<void>;
  /** Closes the panel. */
  close(): void;
  /** Removes the button and the panel, and ends the watches of the inspector. The source stays open. */
  dispose(): void;
}
