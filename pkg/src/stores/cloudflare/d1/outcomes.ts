// What became of changes in D1, by what was found while they were pending.

import { fenced } from '../../../store/lease.js';
import { refusedBefore, sessionExists, sessionNotFound, wrongRevision, wrongState } from '../../../store/refusals.js';
import type { ToldScopes } from './changed.js';
import { checkVersion } from '../../sqlite/open.js';
import { numberIn, textIn } from '../../sqlite/rows.js';
import { callOf, isNamed } from '../../shared/keys.js';
import { beforeOf } from '../../shared/parts.js';
import { isEmpty } from '../../shared/values.js';
import type { Outcome } from '../../shared/outcome.js';
import type { PackedChange } from './packed-change.js';
import type { SqlRow } from '../../sqlite/driver.js';
import type { Committed, Delta, Pos } from '../../../store/contract.js';

/** What became of the changes of a group, in their order. `rows` say it; `scopes` is moved by each of them. */
export function groupOutcomes(group: readonly PackedChange[], rows: readonly SqlRow[], scopes: ToldScopes): Outcome[] {
  return group.map((packed, place) => {
    const row = rows[place];
    if (row === undefined) {
      throw new Error(`the database has not said what became of change "${packed.change.id}"`);
    }
    checkVersion(row['version']);
    return outcome(packed, row, scopes);
  });
}

function outcome(packed: PackedChange, row: SqlRow, scopes: ToldScopes): Outcome {
  const { kind, guard = {} } = packed.change;
  const session = row['created'] === null ? undefined : { created: textIn(row, 'created'), rev: numberIn(row, 'rev') };
  const rev = session?.rev ?? 0;
  if (numberIn(row, 'written') === 1) {
    const told = tell(packed, row, scopes);
    const pos = move(packed, row, scopes);
    return kind === 'append' ? { rev: rev + 1, prev: rev, pos, ...told } : { rev: 0, prev: null, pos, ...told };
  }
  if (numberIn(row, 'duplicate') === 1) {
    const isHere = kind === 'append' || session?.created === packed.change.id;
    return {
      ...(kind === 'update' ? { rev: 0, prev: null } : isHere ? { rev, prev: rev } : { rev: 0, prev: 0 }),
      pos: positions(packed, row, scopes),
      duplicate: true,
      ...tell(packed, row, scopes),
      ...(kind === 'append' && { data: textIn(row, 'data') }),
    };
  }
  if (numberIn(row, 'refused') === 1) {
    return refusedBefore(packed.change);
  }
  if (kind === 'create' && session !== undefined) {
    return sessionExists(packed.change);
  }
  if (kind === 'append' && !isNamed(session, guard)) {
    return sessionNotFound(packed.change);
  }
  const token = session === undefined ? 0 : numberIn(row, 'fence');
  if (guard.fence !== undefined && guard.fence !== token) {
    return fenced(token, guard.fence);
  }
  return guard.rev !== undefined && guard.rev !== rev ? wrongRevision(packed.change, rev) : wrongState();
}

/** Where the scopes of a change are, by its row and the changes before it in its group. */
function places({ appScope, userScope }: PackedChange, row: SqlRow, scopes: ToldScopes) {
  const mark = (column: string): string | undefined => (row[column] === null ? undefined : textIn(row, column));
  return {
    app: scopes.at(appScope, numberIn(row, 'app'), mark('appMark')),
    user: userScope === undefined ? undefined : scopes.at(userScope, numberIn(row, 'user'), mark('userMark')),
  };
}

function positions(packed: PackedChange, row: SqlRow, scopes: ToldScopes): Pos {
  const { app, user } = places(packed, row, scopes);
  return { app: app.pos, user: user?.pos ?? 0 };
}

/** What is told of what a change has found. */
function tell(packed: PackedChange, row: SqlRow, scopes: ToldScopes): Pick<Committed, 'before' | 'changed'> {
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
function move(packed: PackedChange, row: SqlRow, scopes: ToldScopes): Pos {
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
