// `statepad import`: the sessions of one address into the store of another.

import { resolve } from 'node:path';
import { openedOrigin, type Imported, type Origin } from './origin.js';
import { openedTarget, targetOf } from './target.js';
import { addressOf, shownAddress, type Address } from '../addresses.js';
import { EXIT, UsageError } from '../errors.js';
import { Output } from '../output/output.js';
import { Progress } from '../output/progress.js';
import { tell, tellError } from '../tell.js';
import { visibleJson } from '../visible.js';
import { counted, selectionOf } from '../work/filter.js';
import { interruption } from '../work/interruption.js';
import type { Target } from './target.js';
import type { Arguments } from '../arguments.js';
import type { Surroundings } from '../command.js';
import type { ImportProblem } from '../../jsonl.js';

/** The most problems that are told to people. */
const MOST_TOLD = 50;

/** The settings of a call. */
interface Settings {
  readonly args: Arguments;
  readonly to: string;
  readonly dryRun: boolean;
  readonly surroundings: Surroundings;
}

/** Imports. Resolves with the code to exit with. Throws `CommandError`. */
export async function run(args: Arguments, surroundings: Surroundings): Promise<number> {
  const { folder, secrets } = surroundings;
  const [fromText = '', toText = ''] = args.positionals;
  [fromText, toText].forEach((text) => secrets.hideIn(text));
  const [from, to] = [addressOf(fromText), targetOf(addressOf(toText))];
  if (nameOf(from, fromText) === nameOf(to, toText)) {
    throw new UsageError('FROM and TO are the same');
  }
  const dryRun = args.has('dry-run');
  const onError = (error: unknown): void => tellError(surroundings, error);
  const origin = await openedOrigin(from, { folder, secrets, tokenFile: args.optional('token-file'), onError });
  try {
    const target = await openedTarget(to, { folder, secrets, dryRun, onError });
    try {
      return await imported(origin, target, { args, to: shownAddress(to), dryRun, surroundings });
    } finally {
      await target.close();
    }
  } finally {
    await origin.close();
  }
}

function nameOf(address: Address, text: string): string {
  return 'path' in address ? resolve(address.path ?? '') : text;
}

async function imported(origin: Origin, target: Target, settings: Settings): Promise<number> {
  const { args, dryRun } = settings;
  const signal = interruption();
  const isQuiet = args.has('quiet');
  const progress = new Progress((sessions) => `${counted(sessions, 'session')} so far`, { isQuiet });
  const unreadable: ImportProblem[] = [];
  const integers = args.optional('integers') === undefined ? undefined : args.choice('integers', ['text']);
  try {
    const result = await origin.importInto(target.service, {
      selection: selectionOf(args, Date.now()),
      dryRun,
      integers,
      signal,
      onProgress: ({ sessions, failed }) => progress.update(sessions + failed),
      onUnreadable: (session, { message, code }) =>
        unreadable.push({ ...session, reason: message, code, imported: false }),
    });
    progress.clear();
    return await report(result, unreadable, origin, target, settings);
  } finally {
    progress.clear();
  }
}

/** Says what was done, and what was not. Resolves with the code to exit with. */
async function report(
  { sessions, events, imported: written, failed, problems, problemCount, ...others }: Imported,
  unreadable: readonly ImportProblem[],
  origin: Origin,
  target: Target,
  { args, to, dryRun, surroundings }: Settings,
): Promise<number> {
  const isJson = args.has('json');
  const all = [...unreadable, ...problems];
  const told = isJson ? [] : all.slice(0, MOST_TOLD);
  told.forEach((problem) => tell(surroundings, textOf(problem)));
  const untold = unreadable.length + problemCount - told.length;
  if (untold > 0 && !isJson) {
    tell(surroundings, `and ${counted(untold, 'problem')} more: --json prints the first 1,000`);
  }
  const corrected = 'corrected' in others ? others.corrected : 0;
  const counts = {
    imported: written,
    there: sessions - written,
    events,
    corrected,
    failed: failed + unreadable.length,
    problems: problemCount + unreadable.length,
  };
  const output = new Output();
  const lines = isJson
    ? [
        ...all.map((problem) => visibleJson({ kind: 'problem', ...problem })),
        visibleJson({ kind: 'import', from: origin.name, to, dryRun, ...counts }),
      ]
    : linesOf(counts, { from: origin.name, to, dryRun, isNew: target.isNew });
  for (const line of lines) {
    await output.line(line);
  }
  await output.end();
  return counts.problems === 0 ? EXIT.ok : EXIT.failure;
}

interface Counts {
  readonly imported: number;
  readonly there: number;
  readonly events: number;
  readonly corrected: number;
  readonly failed: number;
  readonly problems: number;
}

function linesOf(
  { imported: written, there, events, corrected, failed, problems }: Counts,
  { from, to, dryRun, isNew }: { from: string; to: string; dryRun: boolean; isNew: boolean },
): readonly string[] {
  const would = dryRun ? 'would be ' : '';
  return [
    `${from} → ${to}${isNew ? ` (${would}new)` : ''}`,
    `${would}imported:  ${counted(written, 'session')}`,
    ...(there > 0
      ? [`not touched:  ${counted(there, 'session')} that ${there === 1 ? 'is' : 'are'} there already`]
      : []),
    `in all:  ${counted(written + there, 'session')} with ${counted(events, 'event')}, compared with their origin`,
    ...(corrected > 0 ? [`with a last event that makes their state that of their row:  ${corrected}`] : []),
    ...(failed > 0 ? [`left out:  ${counted(failed, 'session')}, for the reasons above`] : []),
    ...(problems > 0 ? [`problems:  ${problems}`] : []),
  ];
}

/** A problem for people: its place, and its reason. */
function textOf({ line, appName, userId, sessionId, reason, imported: isThere }: ImportProblem): string {
  const place = [
    ...(line === undefined ? [] : [`line ${line}`]),
    ...(sessionId === undefined ? [] : [`session ${sessionId}`]),
    ...(userId === undefined ? [] : [`user ${userId}`]),
    ...(appName === undefined ? [] : [`app ${appName}`]),
  ].join(', ');
  return `${place}: ${reason}${isThere ? ' (imported all the same)' : ''}`;
}
