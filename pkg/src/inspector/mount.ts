// Puts an inspector into a page.

import { StatepadInspector } from './shell/inspector.js';
import { Inspection } from './model/inspection.js';
import { showView, viewOf, type InspectorView } from './view.js';
import type { InspectorOptions, MountedInspector } from './options.js';

/** See `mount` of `statepad/inspector`. */
export async function mountInto(element: Element, options: InspectorOptions): Promise<MountedInspector> {
  const { source, write = false, onView, onTheme, view: first, ...shown } = options;
  const apps = options.apps ?? (await source.listApps()).apps;
  const inspection = new Inspection(source, { ...shown, apps, readOnly: !write });
  const shell = new StatepadInspector();
  shell.inspection = inspection;
  element.append(shell);
  onTheme?.(shell.theme);
  shell.addEventListener('theme', () => onTheme?.(shell.theme));
  let shows = 0;
  let underWay = 0;
  const mounted = {
    element: shell,
    get view() {
      return viewOf(inspection);
    },
    show: async (view: InspectorView) => {
      const show = ++shows;
      underWay += 1;
      try {
        return await showView(inspection, view, { isUnderWay: underWay > 1, isLater: () => show !== shows });
      } finally {
        underWay -= 1;
      }
    },
    dispose: () => {
      inspection.dispose();
      shell.remove();
    },
  };
  try {
    await inspection.list();
    const view = first ?? newest(inspection);
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
