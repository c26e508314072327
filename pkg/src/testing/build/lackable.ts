// The needs of a case that stores may lack, derived from its steps.

import type { Change, Delta, StoreLack } from '../../store/contract.js';
import { hasNul } from '../edge-values.js';
import type { StoreStep } from '../case.js';

/** The last time that cases may use: the end of the year 9999, in milliseconds. */
const LAST_DATE = 253_402_300_799_999;
/** Names that foreign storage surely accepts: session ids, and other ids and names. */
const SESSION_ID = /^[a-z][a-z0-9-]{0,61}$/u;
const PLAIN = /^[\w-]{1,100}$/u;

/** The needs of the steps among those that a store may lack. */
export function lackable(steps: readonly StoreStep[]): StoreLack[] {
  const all = steps.flatMap(flat);
  const changes = all.flatMap(changesOf);
  const needs: Readonly<Partial<Record<StoreLack, boolean>>> = {
    revisions: all.some(isAboutKnown) || changes.some(({ known }) => known !== undefined),
    order: !areInOrder(steps),
    texts: changes.some((change) => hasOtherText(change) || hasNul(change.delta) || hasNul(change.guard)),
    ids: changes.some(hasOddId) || all.some(asksForOddId),
    times: changes.some(({ time, event }) => !isDate(time) || !isDate(event?.time ?? 0)) || all.some(isSinceOdd),
    clock: all.some(isSorted),
    created:
      all.some(namesCreation) ||
      changes.some(({ guard }) => guard?.created !== undefined) ||
      isTwice('create', changes),
    beginnings: all.some(hasBeginning),
    repeats: isTwice('update', changes),
    sizes: changes.some(({ limits }) => limits?.state !== undefined || limits?.value !== undefined),
    scopes: all.some((step) => 'removeScope' in step) || changes.some(isUpdate),
  };
  return (Object.keys(needs) as StoreLack[]).filter((lack) => needs[lack]);
}

/** A step, or the steps that it makes at once. */
function flat(step: StoreStep): StoreStep[] {
  return 'parallel' in step ? step.parallel.flatMap(flat) : [step];
}

function changesOf(step: StoreStep): readonly Change[] {
  return 'commit' in step
    ? [step.commit]
    : 'commitMany' in step
      ? step.commitMany
      : 'hinted' in step
        ? [step.change]
        : [];
}

function isUpdate({ kind }: Change): boolean {
  return kind === 'update';
}

/** True when one change of a kind is sent more than once. */
function isTwice(kind: Change['kind'], changes: readonly Change[]): boolean {
  const ids = changes.filter((change) => change.kind === kind).map(({ id }) => id);
  return new Set(ids).size < ids.length;
}

function asksForOddId(step: StoreStep): boolean {
  const asked = 'load' in step ? step.load : 'owners' in step ? step.owners : undefined;
  return asked !== undefined && !SESSION_ID.test(asked.sessionId);
}

function isAboutKnown(step: StoreStep): boolean {
  return 'load' in step && step.query?.known !== undefined;
}

function namesCreation(step: StoreStep): boolean {
  return 'remove' in step && step.created !== undefined;
}

function hasBeginning(step: StoreStep): boolean {
  return 'load' in step && step.answer?.events.some(({ rev }) => rev === 0) === true;
}

/** True when a list depends on the times of sessions. */
function isSorted(step: StoreStep): boolean {
  return 'list' in step && step.answer.rows.length > 1;
}

function isSinceOdd(step: StoreStep): boolean {
  return 'load' in step && !isDate(step.query?.events?.since ?? 0);
}

function isDate(time: number): boolean {
  return Number.isInteger(time) && time >= 0 && time <= LAST_DATE;
}

/** True when an event is not the JSON of an event with this id. */
function hasOtherText({ kind, event }: Change): boolean {
  if (kind !== 'append' || event === undefined) {
    return false;
  }
  try {
    return (JSON.parse(event.data) as { id?: unknown } | null)?.id !== event.id;
  } catch {
    return true;
  }
}

function hasOddId({ id, key: { appName, userId = 'user', sessionId = 'session' }, delta }: Change): boolean {
  const names = [delta.app, delta.user, delta.session].flatMap((part: Delta = {}) => [
    ...Object.keys(part.set ?? {}),
    ...(part.unset ?? []),
  ]);
  return !SESSION_ID.test(sessionId) || ![id, appName, userId, ...names].every((text) => PLAIN.test(text));
}

/** The changes that a step should write. */
function writtenBy(step: StoreStep): readonly Change[] {
  const isRefused = 'commit' in step && step.outcome !== undefined && 'throws' in step.outcome;
  return isRefused ? [] : changesOf(step);
}

/** True when the events of each session are written one by one, in the order of their times and then their ids. */
function areInOrder(steps: readonly StoreStep[]): boolean {
  const last = new Map<string, { readonly time: number; readonly id: string }>();
  const writtenKeys = new Set<string>();
  const isNext = ({ kind, key, time, id }: Change): boolean => {
    const session = JSON.stringify([key.appName, key.userId, key.sessionId]);
    const event = JSON.stringify([session, id]);
    const before = last.get(session);
    if (kind !== 'append' || writtenKeys.has(event)) {
      return true;
    }
    writtenKeys.add(event);
    last.set(session, { time, id });
    return before === undefined || time > before.time || (time === before.time && id > before.id);
  };
  const areApart = (step: StoreStep): boolean => {
    const appends = flat(step)
      .flatMap(writtenBy)
      .filter(({ kind }) => kind === 'append');
    return !('parallel' in step) || appends.length < 2;
  };
  return steps.every((step) => areApart(step) && flat(step).flatMap(writtenBy).every(isNext));
}
