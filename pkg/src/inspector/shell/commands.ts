// The commands of the inspector: the palette offers them, keys run them.

import type { Inspection } from '../model/inspection.js';
import { goTo } from '../timeline/moment.js';
import { lowerBound, turnsOf } from '../timeline/layout.js';
import type { IconName } from '../ui/icons.js';
import { PANE, PANES, type PaneName } from './panes.js';
import { THEME_LOOKS, THEMES, type Theme } from './theme.js';

/** The parts of the inspector that commands act on. */
export interface Shell {
  readonly inspection: Inspection | undefined;
  openSessions(): void;
  openPalette(): void;
  openShortcuts(): void;
  showPane(name: PaneName): void;
  setTheme(theme: Theme): void;
  find(): void;
  play(): void;
  say(text: string): void;
}

/** The groups of commands, as the sheet of shortcuts shows them. */
export type CommandGroup = 'Time' | 'View' | 'Session';

/** A command. */
export interface Command {
  readonly title: string;
  readonly icon: IconName;
  readonly group: CommandGroup;
  /** Its shortcut, as {@link isPressed} reads it. */
  readonly keys?: string;
  /** True when its keys are arrow keys, which some widgets need for themselves. */
  readonly isArrow?: boolean;
  /** True when it makes sense now. */
  readonly suits: (inspection: Inspection | undefined) => boolean;
  readonly run: (shell: Shell) => void | Promise<void>;
}

const always = (): boolean => true;
const hasSession = (inspection: Inspection | undefined): boolean => inspection?.session !== undefined;
const hasPast = (inspection: Inspection | undefined): boolean => (inspection?.target ?? 0) > 0;
const hasFuture = (inspection: Inspection | undefined): boolean =>
  inspection !== undefined && inspection.target < (inspection.session?.revision ?? 0);

/** All commands, in the order in which the palette offers them. */
export const COMMANDS: readonly Command[] = [
  {
    ...{ title: 'Step back', icon: 'back', group: 'Time', keys: 'ArrowLeft', isArrow: true },
    suits: hasPast,
    run: ({ inspection }) => inspection?.travel(inspection.target - 1),
  },
  {
    ...{ title: 'Step forward', icon: 'forward', group: 'Time', keys: 'ArrowRight', isArrow: true },
    suits: hasFuture,
    run: ({ inspection }) => inspection?.travel(inspection.target + 1),
  },
  {
    ...{ title: 'Previous turn', icon: 'back', group: 'Time', keys: 'shift+ArrowLeft', isArrow: true },
    suits: hasPast,
    run: ({ inspection }) => inspection?.travel(turnsOf(inspection.log, inspection.target).turnBefore),
  },
  {
    ...{ title: 'Next turn', icon: 'forward', group: 'Time', keys: 'shift+ArrowRight', isArrow: true },
    suits: hasFuture,
    run: ({ inspection }) => inspection?.travel(turnsOf(inspection.log, inspection.target).turnAfter),
  },
  {
    ...{ title: 'Go to now', icon: 'now', group: 'Time', keys: 'n' },
    suits: (inspection) => inspection !== undefined && !inspection.isNow,
    run: ({ inspection }) => inspection && goTo(inspection, inspection.session?.revision ?? 0),
  },
  {
    ...{ title: 'Go to the creation', icon: 'back', group: 'Time' },
    suits: hasPast,
    run: ({ inspection }) => inspection?.travel(0),
  },
  {
    ...{ title: 'Play from here', icon: 'play', group: 'Time', keys: 'p' },
    suits: (inspection) => (inspection?.session?.revision ?? 0) > 0,
    run: (shell) => shell.play(),
  },
  {
    ...{ title: 'Previous error', icon: 'error', group: 'Time', keys: 'shift+e' },
    suits: (inspection) => inspection !== undefined && failures(inspection).some((one) => one < inspection.target),
    run: ({ inspection }) => inspection && toFailure(inspection, -1),
  },
  {
    ...{ title: 'Next error', icon: 'error', group: 'Time', keys: 'e' },
    suits: (inspection) => inspection !== undefined && failures(inspection).some((one) => one > inspection.target),
    run: ({ inspection }) => inspection && toFailure(inspection, 1),
  },
  {
    ...{ title: 'Compare with this moment', icon: 'diff', group: 'Time', keys: 'c' },
    suits: (inspection) => hasSession(inspection) && inspection?.base !== inspection?.target,
    run: ({ inspection }) => inspection?.compareWith(inspection.target),
  },
  {
    ...{ title: 'Compare with the creation', icon: 'diff', group: 'Time' },
    suits: (inspection) => hasPast(inspection) && inspection?.base !== 0,
    run: ({ inspection }) => inspection?.compareWith(0),
  },
  {
    ...{ title: 'End the comparison', icon: 'diff', group: 'Time' },
    suits: (inspection) => inspection?.base !== undefined,
    run: ({ inspection }) => inspection?.compareWith(undefined),
  },
  {
    ...{ title: 'Choose a session', icon: 'database', group: 'Session', keys: 's' },
    suits: always,
    run: (shell) => shell.openSessions(),
  },
  {
    ...{ title: 'Fork from here', icon: 'fork', group: 'Session' },
    suits: (inspection) => hasSession(inspection) && inspection?.canFork === true,
    run: async ({ inspection }) => await inspection?.fork(inspection.revision),
  },
  {
    ...{ title: 'Copy the session as JSON', icon: 'copy', group: 'Session' },
    suits: hasSession,
    run: async (shell) => await copy(shell, 'the session', jsonOfSession(shell.inspection)),
  },
  {
    ...{ title: 'Copy the state of this moment as JSON', icon: 'copy', group: 'Session' },
    suits: hasSession,
    run: async (shell) => await copy(shell, 'the state', jsonOfState(shell.inspection)),
  },
  {
    ...{ title: 'Search and run commands', icon: 'search', group: 'View', keys: 'mod+k' },
    suits: always,
    run: (shell) => shell.openPalette(),
  },
  {
    ...{ title: 'Find in this session', icon: 'search', group: 'View', keys: '/' },
    suits: hasSession,
    run: (shell) => shell.find(),
  },
  ...PANES.map((name, place): Command => ({
    ...{ title: `Go to ${PANE[name].title}`, icon: PANE[name].icon, group: 'View', keys: String(place + 1) },
    suits: hasSession,
    run: (shell) => shell.showPane(name),
  })),
  ...THEMES.map((theme): Command => ({
    ...{ title: `Theme: ${THEME_LOOKS[theme].title}`, icon: THEME_LOOKS[theme].icon, group: 'View' },
    suits: always,
    run: (shell) => shell.setTheme(theme),
  })),
  {
    ...{ title: 'Show all shortcuts', icon: 'keyboard', group: 'View', keys: '?' },
    suits: always,
    run: (shell) => shell.openShortcuts(),
  },
];

/** The revisions of errors and of results of failed tools, ascending. */
function failures({ log }: Inspection): readonly number[] {
  const tools = [...log.tools.values()].flatMap(({ failed, response }) =>
    failed && response !== undefined ? [response] : [],
  );
  return [...new Set([...log.errors, ...tools])].sort((one, other) => one - other);
}

function toFailure(inspection: Inspection, direction: 1 | -1): void {
  const all = failures(inspection);
  const { target } = inspection;
  const place = direction > 0 ? lowerBound(all, target + 1) : lowerBound(all, target) - 1;
  const revision = all[place];
  if (revision !== undefined) {
    inspection.select(revision);
    inspection.travel(revision);
  }
}

async function copy(shell: Shell, what: string, text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
  shell.say(`Copied ${what}.`);
}

function jsonOfSession(inspection: Inspection | undefined): string {
  const session = inspection?.session;
  if (session === undefined) {
    return '';
  }
  const { appName, userId, id, state, events, lastUpdateTime, expireTime } = session;
  return JSON.stringify({ appName, userId, id, state, events, lastUpdateTime, expireTime }, undefined, 2);
}

function jsonOfState(inspection: Inspection | undefined): string {
  const { rows = [] } = inspection ?? {};
  const kept = rows.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value] as const]));
  return JSON.stringify(Object.fromEntries(kept), undefined, 2);
}
