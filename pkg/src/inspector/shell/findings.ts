// Findings of the palette: commands, sessions, keys and events that suit a query.

import type { Event, Session } from '../../index.js';
import { shortSummaryOf } from '../model/contents.js';
import type { Inspection } from '../model/inspection.js';
import { splitKey } from '../model/log.js';
import type { KeyRow } from '../model/rows.js';
import type { IconName } from '../ui/icons.js';
import { COMMANDS, type Command } from './commands.js';
import { bestMatches } from './fuzzy.js';

/** One line of the palette. */
export interface Finding {
  readonly icon: IconName;
  /** The text in which {@link Finding.places} are matched. */
  readonly title: string;
  readonly places: readonly number[];
  /** More about it, at the end of the line. */
  readonly note: string;
  readonly keys?: string | undefined;
  /** The scope of a key. */
  readonly scope?: string | undefined;
  readonly act: Act;
}

/** The effect of choosing a finding. */
export type Act =
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'session'; readonly session: Session }
  | { readonly kind: 'key'; readonly key: string }
  | { readonly kind: 'event'; readonly revision: number }
  | { readonly kind: 'compare'; readonly revision: number }
  | { readonly kind: 'find'; readonly query: string };

/** Findings of one kind. */
export interface FindingGroup {
  readonly title: string;
  readonly findings: readonly Finding[];
}

/** The most findings of a group, with and without a query. */
const MOST = 7;
const MOST_COMMANDS = 30;

/** The groups of findings for a query; those without findings are left out. */
export function findingsFor(query: string, inspection: Inspection | undefined): readonly FindingGroup[] {
  const groups = [
    { title: 'Go to', findings: places(query, inspection) },
    { title: 'Commands', findings: commands(query, inspection) },
    { title: 'Keys', findings: query === '' ? [] : keys(query, inspection?.rows ?? []) },
    { title: 'Sessions', findings: sessions(query, inspection) },
    { title: 'Events', findings: events(query, inspection) },
  ];
  return groups.filter(({ findings }) => findings.length > 0);
}

/** `#12` is a moment: one to go to, or to compare with. */
function places(query: string, inspection: Inspection | undefined): readonly Finding[] {
  const revision = Number(/^#\s*(\d+)$/u.exec(query.trim())?.[1] ?? Number.NaN);
  if (!(revision <= (inspection?.session?.revision ?? -1))) {
    return [];
  }
  return [
    { ...line('forward', `Go to #${revision}`), act: { kind: 'event', revision } },
    { ...line('diff', `Compare with #${revision}`), act: { kind: 'compare', revision } },
  ];
}

function commands(query: string, inspection: Inspection | undefined): readonly Finding[] {
  const suiting = COMMANDS.filter(({ suits, keys }) => keys !== 'mod+k' && suits(inspection));
  return bestMatches(query, suiting, ({ title }) => title, query === '' ? MOST_COMMANDS : MOST).map(
    ({ item, match }) => ({
      ...line(item.icon, item.title),
      places: match.places,
      keys: item.keys,
      act: { kind: 'command', command: item },
    }),
  );
}

function keys(query: string, rows: readonly KeyRow[]): readonly Finding[] {
  return bestMatches(query, rows, ({ key }) => key, MOST).map(({ item: { key, text }, match }) => ({
    ...line('key', key),
    note: text.slice(0, 80).toWellFormed(),
    places: match.places,
    scope: splitKey(key).scope,
    act: { kind: 'key', key },
  }));
}

function sessions(query: string, inspection: Inspection | undefined): readonly Finding[] {
  const { sessions: all = [], session: current } = inspection ?? {};
  const others = all.filter(({ appName, userId, id }) => {
    return appName !== current?.appName || userId !== current.userId || id !== current.id;
  });
  return bestMatches(query, others, ({ userId, id }) => `${id} ${userId}`, MOST).map(({ item, match }) => ({
    ...line('database', item.id),
    places: match.places.filter((place) => place < item.id.length),
    note: `${item.appName} / ${item.userId}`,
    act: { kind: 'session', session: item },
  }));
}

function events(query: string, inspection: Inspection | undefined): readonly Finding[] {
  const text = query.trim();
  if (inspection?.session === undefined || text.length < 2 || text.startsWith('#')) {
    return [];
  }
  const { log } = inspection;
  const matches = log.find(text);
  if (matches.length === 0) {
    return [];
  }
  const found = matches.slice(-MOST).reverse();
  const all: Finding = {
    ...line('search', `Find “${text}” in this session`),
    note: matches.length === 1 ? '1 event' : `${matches.length.toLocaleString('en')} events`,
    act: { kind: 'find', query: text },
  };
  return [
    all,
    ...found.map((revision): Finding => {
      const event = log.at(revision);
      return {
        ...line('message', wordsOf(event, revision)),
        note: `#${revision} ${log.author(revision)}`,
        act: { kind: 'event', revision },
      };
    }),
  ];
}

/** The words of an event; its number when it has none. */
function wordsOf(event: Event | undefined, revision: number): string {
  const words = event === undefined ? '' : shortSummaryOf(event).slice(0, 160).toWellFormed();
  return words === '' ? `#${revision}` : words;
}

function line(icon: IconName, title: string): Pick<Finding, 'icon' | 'title' | 'places' | 'note'> {
  return { icon, title, places: [], note: '' };
}
