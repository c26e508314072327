// The outcomes of changes in D1, by the rows that were read while they were pending.

import { wrongState } from '../../../store/refusals.js';
import { isStoreError } from '../../../store/store-error.js';
import type { ScopePositions } from './changed.js';
import { isThere, Target } from './target.js';
import { toColumn } from '../../shared/column-text.js';
import { checkVersion } from '../../sqlite-core/open.js';
import { numberIn, textIn } from '../../sqlite-core/rows.js';
import { answerTo, decideCommit } from '../../shared/decide.js';
import { callOf } from '../../shared/keys.js';
import { outcomeOf, type Outcome } from '../../shared/outcome.js';
import { beforeOf } from '../../shared/parts.js';
import { isEmpty } from '../../shared/values.js';
import type { PackedChange } from './packed-change.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { Committed, Delta, Pos } from '../../../store/contract.js';

/** The answers about a group of changes. */
export interface GroupAnswers {
  /** The state while the changes were pending, in their order. */
  readonly rows: readonly SqlRow[];
  /** The changes of others: moved by each change. */
  readonly scopes: ScopePositions;
  /** The numbers of changes whose guard is not met by the values. */
  readonly misses: readonly SqlRow[];
  readonly sizes: readonly SqlRow[];
  /** The sessions that were written, with their ends. */
  readonly ends: readonly SqlRow[];
}

/** The outcomes of the changes of a group, in their order. */
export function groupOutcomes(group: readonly PackedChange[], answers: GroupAnswers): Outcome[] {
  return group.map((packed, place) => {
    const row = answers.rows[place];
    if (row === undefined) {
      throw new Error(`the database did not return the outcome of change "${packed.change.id}"`);
    }
    checkVersion(row['version']);
    return outcome(packed, row, answers);
  });
}

function outcome(packed: PackedChange, row: SqlRow, { scopes, misses, sizes, ends }: GroupAnswers): Outcome {
  const { kind, id } = packed.change;
  if (numberIn(row, 'written') === 1) {
    const rev = row['created'] === null ? 0 : numberIn(row, 'rev');
    const report = { ...tell(packed, row, scopes), ...endIn(ends.find((each) => isOf(each, packed))) };
    const pos = move(packed, row, scopes);
    return kind === 'append' ? { rev: rev + 1, prev: rev, pos, ...report } : { rev: 0, prev: null, pos, ...report };
  }
  const isMissed = misses.some(({ i }) => i === packed.index);
  const decision = outcomeOf(() => decideCommit(packed.change, new Target(row, { isMissed, sizes }, packed.change)));
  if (isStoreError(decision)) {
    return decision;
  }
  // The row says nothing of values, which the batch has compared with the guard.
  if (decision.duplicate === undefined) {
    return wrongState();
  }
  const answer = answerTo(decision, positions(packed, row, scopes), tell(packed, row, scopes));
  // The session of a creation may have been removed, and another one be there.
  const isOwn = kind === 'append' || (kind === 'create' && row['created'] === toColumn(id));
  return isOwn && isThere(row) ? { ...answer, ...endIn(row) } : answer;
}

function isOf({ app, user, id }: SqlRow, { change: { key } }: PackedChange): boolean {
  return app === toColumn(key.appName) && user === toColumn(key.userId ?? '') && id === toColumn(key.sessionId ?? '');
}

/** The answer's part about the end of the session in a row. */
function endIn(row: SqlRow = { expires: null }): Pick<Committed, 'expires'> {
  return row['expires'] === null ? {} : { expires: numberIn(row, 'expires') };
}

/** The positions of the scopes of a change, by its row and the changes before it in its group. */
function places({ appScope, userScope }: PackedChange, row: SqlRow, scopes: ScopePositions) {
  const mark = (column: string): string | undefined => (row[column] === null ? undefined : textIn(row, column));
  return {
    app: scopes.at(appScope, numberIn(row, 'app'), mark('appMark')),
    user: userScope === undefined ? undefined : scopes.at(userScope, numberIn(row, 'user'), mark('userMark')),
  };
}

function positions(packed: PackedChange, row: SqlRow, scopes: ScopePositions): Pos {
  const { app, user } = places(packed, row, scopes);
  return { app: app.pos, user: user?.pos ?? 0 };
}

/** The report on the state of the scopes and the session that a change has met. */
function tell(packed: PackedChange, row: SqlRow, scopes: ScopePositions): Pick<Committed, 'before' | 'changed'> {
  const {
    change: { known = {} },
    appScope,
    userScope,
  } = packed;
  const { app, user } = places(packed, row, scopes);
  return {
    ...scopes.changed(known, appScope, userScope, { app: app.pos, user: user?.pos ?? 0 }),
    before: beforeOf(app.mark, user?.mark, lastIn(row)),
  };
}

/** The id of the last event of the session of a row. */
function lastIn(row: SqlRow): string | undefined {
  return row['last'] === null || !(isThere(row) || row['written'] === 1) ? undefined : textIn(row, 'last');
}

/** Moves the scopes of a change that is written, and says where they are then. */
function move(packed: PackedChange, row: SqlRow, scopes: ScopePositions): Pos {
  const { change, appScope, userScope } = packed;
  const { delta } = change;
  const { app, user } = places(packed, row, scopes);
  const step = (scope: string, pos: number, part: Delta | undefined): number => {
    if (part === undefined || isEmpty(part)) {
      return pos;
    }
    scopes.move(scope, pos + 1, callOf(change), part);
    return pos + 1;
  };
  return {
    app: step(appScope, app.pos, delta.app),
    user: userScope === undefined || user === undefined ? 0 : step(userScope, user.pos, delta.user),
  };
}
