// Puts an inspector into a page.

import { StatepadInspector } from './inspector.js';
import { Inspection } from './model/inspection.js';
import type { InspectorSource } from './model/source.js';
import { showView, viewOf, type InspectorView } from './view.js';
import type { Session } from '../index.js';

/** A message that a user has typed, and its session. */
export type Send = (session: Session, text: string) => Promise<void>;

/** Options of {@link mount}. */
export interface InspectorOptions {
  /** The sessions to show: a `SessionService`, a client of `statepad/client`, or anything with the same methods. */
  readonly source: InspectorSource;
  /** The name of the source, for people: `sessions.db`. */
  readonly label?: string | undefined;
  /** The view to begin with; the newest session by default. */
  readonly view?: InspectorView | undefined;
  /** Called with the new view whenever it has changed: for an address that names it. */
  readonly onView?: ((view: InspectorView) => void) | undefined;
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
  /**
   * Shows a view. Resolves to the parts of it that the session does not have, as sentences. Throws when the session is
   * missing, and the errors of the source.
   */
  show(view: InspectorView): Promise<readonly string[]>;
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
  const { source, write = false, onView } = options;
  const apps = options.apps ?? (await source.listApps()).apps;
  const inspection = new Inspection(source, { apps, readOnly: !write });
  const shell = new StatepadInspector();
  shell.inspection = inspection;
  shell.docked = true;
  element.append(shell);
  const mounted = {
    element: shell,
    show: async (view: InspectorView) => await showView(inspection, view),
    dispose: () => {
      inspection.dispose();
      shell.remove();
    },
  };
  try {
    await inspection.list();
    const view = options.view ?? newest(inspection);
    if (view !== undefined) {
      await mounted.show(view);
    }
  } catch (error) {
    mounted.dispose();
    throw error;
  }
  inspection.addEventListener('change', () => {
    const view = viewOf(inspection);
    if (view !== undefined) {
      onView?.(view);
    }
  });
  return mounted;
}

/** The view of the newest session; `undefined` when there is none. */
function newest({ sessions: [session] }: Inspection): InspectorView | undefined {
  if (session === undefined) {
    return undefined;
  }
  const { appName, userId, id: sessionId } = session;
  return { session: { appName, userId, sessionId } };
}
