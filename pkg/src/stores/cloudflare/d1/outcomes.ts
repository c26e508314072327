// The outcomes of changes in D1, by the rows that were read while they were pending.

import { wrongState } from '../../../store/refusals.js';
import { isStoreError } from '../../../store/store-error.js';
import type { ScopePositions } from './changed.js';
import { Target } from './target.js';
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

/** The outcomes of the changes of a group, in their order. `rows` say them; `scopes` is moved by each of them. */
export function groupOutcomes(
  group: readonly PackedChange[],
  rows: readonly SqlRow[],
  scopes: ScopePositions,
): Outcome[] {
  return group.map((packed, place) => {
    const row = rows[place];
    if (row === undefined) {
      throw new Error(`the database did not return the outcome of change "${packed.change.id}"`);
    }
    checkVersion(row['version']);
    return outcome(packed, row, scopes);
  });
}

function outcome(packed: PackedChange, row: SqlRow, scopes: ScopePositions): Outcome {
  const { kind } = packed.change;
  if (numberIn(row, 'written') === 1) {
    const rev = row['created'] === null ? 0 : numberIn(row, 'rev');
    const report = tell(packed, row, scopes);
    const pos = move(packed, row, scopes);
    return kind === 'append' ? { rev: rev + 1, prev: rev, pos, ...report } : { rev: 0, prev: null, pos, ...report };
  }
  const decision = outcomeOf(() => decideCommit(packed.change, new Target(row)));
  if (isStoreError(decision)) {
    return decision;
  }
  // The row says nothing of values, which the batch has compared with the guard.
  return decision.duplicate === undefined
    ? wrongState()
    : answerTo(decision, positions(packed, row, scopes), tell(packed, row, scopes));
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
    before: beforeOf(app.mark, user?.mark, row['last'] === null ? undefined : textIn(row, 'last')),
  };
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
