// Records as tables, for people.

import { shownDelta, shownEvent, shownValue, shownValues } from './summary.js';
import { shownTime } from '../output/times.js';
import { Table, type Column } from '../output/table.js';
import { visible } from '../visible.js';
import type { Output } from '../output/output.js';
import type { SessionRecord, ShowRecord, StepRecord } from './records.js';
import type { ShowSettings } from './settings.js';
import type { View } from './view.js';

/** A table of records of one kind. */
interface TableKind<Row extends ShowRecord> {
  readonly columns: readonly Column[];
  readonly cells: (record: Row) => readonly string[];
}

const TIME: Column = { title: 'LAST UPDATE' };
const COUNT = (title: string): Column => ({ title, align: 'right' });
const FLEXIBLE = (title: string): Column => ({ title, isFlexible: true });

/** Prints records in tables. */
export class TableView implements View {
  readonly #output: Output;
  readonly #tables: ReturnType<typeof tablesOf>;
  readonly #isDetailed: boolean;
  #kind: ShowRecord['kind'] | undefined;
  #table: Table | undefined;

  constructor(output: Output, settings: Pick<ShowSettings, 'level' | 'filter'>) {
    this.#output = output;
    this.#tables = tablesOf(settings);
    this.#isDetailed = settings.level === 'session';
  }

  async print(record: ShowRecord): Promise<void> {
    switch (record.kind) {
      case 'app': {
        await this.#row(this.#tables.app, record);
        return;
      }
      case 'user': {
        await this.#row(this.#tables.user, record);
        return;
      }
      case 'session': {
        await (this.#isDetailed ? this.#session(record) : this.#row(this.#tables.session, record));
        return;
      }
      case 'event': {
        await this.#row(this.#tables.event, record);
        return;
      }
      case 'step': {
        await this.#row(this.#tables.step, record);
        return;
      }
      case 'corrupt': {
        await this.#row(this.#tables.corrupt, record);
        return;
      }
      case 'scope': {
        await this.#values(
          record.userId === undefined ? `app ${record.appName}` : `user ${record.userId}`,
          record.state,
        );
        return;
      }
      case 'history':
        await this.#begin('history');
        {
          await this.#title(`${record.key}${record.exact ? '' : ', as far as it is known'}`);
          return;
        }
    }
  }

  async end(): Promise<void> {
    await this.#table?.end();
    await this.#output.end();
  }

  /** A session by itself: what it is, and its values. */
  async #session(record: SessionRecord): Promise<void> {
    const { appName, userId, id, revision, lastUpdateTime, expireTime, exact } = record;
    await this.#begin('session');
    const place = exact === undefined ? '' : ', in the past';
    await this.#title(`session ${id}`);
    await this.#output.line(visible(`app ${appName}, user ${userId}`));
    const end = expireTime === undefined ? '' : `, expires ${shownTime(expireTime)}`;
    await this.#output.line(`revision ${revision}${place}, last update ${shownTime(lastUpdateTime)}${end}`);
    if (exact === false) {
      await this.#output.line('app: and user: values as far as the log of the session has them');
    }
    await this.#values('state', record.state);
  }

  async #values(title: string, state: SessionRecord['state']): Promise<void> {
    await this.#begin('scope');
    await this.#title(title);
    const table = new Table(this.#output, [{ title: 'KEY' }, FLEXIBLE('VALUE')]);
    for (const [key, value] of Object.entries(state)) {
      await table.row([key, shownValue(value)]);
    }
    await table.end();
    if (Object.keys(state).length === 0) {
      await this.#output.line('no values');
    }
  }

  async #row<Row extends ShowRecord>({ columns, cells }: TableKind<Row>, record: Row): Promise<void> {
    if (this.#kind !== record.kind || this.#table === undefined) {
      const isUnderTitle = this.#kind === 'history';
      await (isUnderTitle ? this.#table?.end() : this.#begin(record.kind));
      this.#kind = record.kind;
      this.#table = new Table(this.#output, columns);
    }
    await this.#table.row(cells(record));
  }

  /** Ends what was printed before, with an empty line. */
  async #begin(kind: ShowRecord['kind']): Promise<void> {
    await this.#table?.end();
    if (this.#kind !== undefined) {
      await this.#output.line('');
    }
    this.#table = undefined;
    this.#kind = kind;
  }

  async #title(text: string): Promise<void> {
    const title = visible(text);
    await this.#output.line(this.#output.hasStyles ? `\x1b[1m${title}\x1b[22m` : title);
  }
}

/** The tables. A column whose cells would all be the name that was asked for is left out. */
function tablesOf({ filter }: Pick<ShowSettings, 'filter'>) {
  const app = filter.app.only === undefined ? [{ title: 'APP' }] : [];
  const user = filter.user.only === undefined ? [{ title: 'USER' }] : [];
  const named = ({ appName, userId }: { readonly appName: string; readonly userId: string }): readonly string[] => [
    ...(app.length > 0 ? [appName] : []),
    ...(user.length > 0 ? [userId] : []),
  ];
  return {
    app: table('app', [{ title: 'APP' }, COUNT('SESSIONS'), TIME], ({ appName, sessions, lastUpdateTime }) => [
      appName,
      String(sessions),
      timeOf(lastUpdateTime),
    ]),
    user: table('user', [...app, { title: 'USER' }, COUNT('SESSIONS'), TIME], (record) => [
      ...(app.length > 0 ? [record.appName] : []),
      record.userId,
      String(record.sessions),
      timeOf(record.lastUpdateTime),
    ]),
    session: table(
      'session',
      [...app, ...user, { title: 'SESSION' }, COUNT('EVENTS'), TIME, { title: 'EXPIRES' }, FLEXIBLE('STATE')],
      (record) => [
        ...named(record),
        record.id,
        String(record.revision),
        timeOf(record.lastUpdateTime),
        timeOf(record.expireTime),
        shownValues(record.state),
      ],
    ),
    corrupt: table('corrupt', [...app, ...user, { title: 'SESSION THAT CANNOT BE READ' }], (record) => [
      ...named(record),
      record.id,
    ]),
    event: table(
      'event',
      [COUNT('REV'), { title: 'TIME' }, { title: 'AUTHOR' }, FLEXIBLE('EVENT'), FLEXIBLE('STATE DELTA')],
      ({ revision, event }) => [
        String(revision),
        timeOf(event.timestamp),
        event.author ?? '',
        shownEvent(event),
        shownDelta(event),
      ],
    ),
    step: table(
      'step',
      [COUNT('REV'), { title: 'TIME' }, { title: 'BY' }, FLEXIBLE('FROM'), FLEXIBLE('TO')],
      (record) => [
        String('revision' in record ? record.revision : record.position),
        timeOf(record.timestamp),
        writerOf(record),
        record.from === undefined ? '' : shownValue(record.from),
        record.to === undefined ? '(deleted)' : shownValue(record.to),
      ],
    ),
  };
}

/** A table whose cells are those of records of a kind. */
function table<Kind extends ShowRecord['kind']>(
  _kind: Kind,
  columns: readonly Column[],
  cells: (record: Extract<ShowRecord, { kind: Kind }>) => readonly string[],
): TableKind<Extract<ShowRecord, { kind: Kind }>> {
  return { columns, cells };
}

function writerOf(record: StepRecord): string {
  if ('position' in record) {
    return record.by === undefined ? 'an update' : `${record.by.userId}/${record.by.sessionId}`;
  }
  return record.revision === 0 ? 'the creation' : (record.author ?? '');
}

function timeOf(time: number | undefined): string {
  return time === undefined ? '' : shownTime(time);
}
