/** The rows of the table: what is measured on which sides, and what each is meant to reach. */

/**
 * The required ratio and the goal: at least so many times as fast (or small) as adk-js, or at most so many times the
 * time of plain JavaScript.
 *
 * @typedef {{ required: number, goal?: number }} Aim
 */

/**
 * @typedef {object} Row
 * @property {string} id the function that measures it
 * @property {string} file where that is, in rows/
 * @property {string} what
 * @property {string[]} sides
 * @property {'time' | 'bytes'} [unit] `time` unless it says otherwise
 * @property {number} [rounds] where a process tells all there is to know
 * @property {Aim} [adk] at least
 * @property {Aim} [pure] at most
 */

const ALL = ['statepad', 'adk', 'pure'];
const BOTH = ['statepad', 'adk'];
const NO_ADK = ['statepad', 'pure'];

/** Rows of one file. */
const rowsOf = (file, sides, rows) => rows.map(([id, what, aims = {}]) => ({ id, file, what, sides, ...aims }));

/** @type {Row[]} all rows that are measured in child processes */
export const ROWS = [
  ...rowsOf('append', ALL, [
    ['appendAt10', 'append, 10 events', { adk: { required: 2.5, goal: 3 }, pure: { required: 1 } }],
    ['appendAt1000', 'append, 1,000 events'],
    ['appendAt10000', 'append, 10,000 events', { adk: { required: 50 } }],
    ['appendAt100000', 'append, 100,000 events'],
    ['appendFirst', 'first append of a session'],
    ['appendReadState', 'append and read state, 10 events', { adk: { required: 1.2, goal: 1.5 } }],
    ['appendReadEvents', 'append and read events, 10 events'],
    ['appendReadEvents1000', 'append and read events, 1,000 events'],
    ['appendShared', 'append, 100 sessions of one app in turn', { adk: { required: 2, goal: 2.5 } }],
  ]),
  ...rowsOf('create', ALL, [['create', 'create, three keys', { adk: { required: 1.1, goal: 1.5 } }]]),
  ...rowsOf('invocation', ALL, [['invocation', 'invocation: 3 writes, 2 children, a render']]),
  ...rowsOf('keys', ALL, [
    ['keys10', 'append, 10 app keys, 1 handle'],
    ['keys1000', 'append, 1,000 app keys, 1 handle'],
    ['keys10000', 'append, 10,000 app keys, 1 handle'],
    ['keys10000Read', 'append and read state, 10,000 app keys', { pure: { required: 3 } }],
  ]),
  // A handle of ADK is a copy of everything: it takes no notice of what others write.
  ...rowsOf('keys', NO_ADK, [
    ['keys10Handles', 'append, 10 app keys, 200 handles'],
    ['keys1000Handles', 'append, 1,000 app keys, 200 handles'],
    ['keys10000Handles', 'append, 10,000 app keys, 200 handles'],
  ]),
  ...rowsOf('read', ALL, [
    ['get', 'get, 1,000 events', { adk: { required: 1_000 } }],
    ['getAt100000', 'get, 100,000 events'],
    ['getAndRead', 'get and read all, 1,000 events'],
    ['lastTwenty', 'get and read the last 20 of 10,000'],
  ]),
  ...rowsOf('list', ALL, [
    ['listFirst1000', 'list, first page of 1,000'],
    ['listOffset1000', 'list, by offset, the middle of 1,000'],
    ['listFirst100000', 'list, first page of 100,000'],
    ['listOffset100000', 'list, by offset, the middle of 100,000'],
    ['listPage', 'list 20 of 1,000 of thirty keys each'],
  ]),
  // ADK has no cursors.
  ...rowsOf('list', NO_ADK, [
    ['listCursor1000', 'list, by cursor, the middle of 1,000'],
    ['listCursor100000', 'list, by cursor, the middle of 100,000'],
    ['listWalk', 'list, a walk by cursor through 10,000'],
  ]),
  ...rowsOf('template', ALL, [
    ['templateCompiled', 'template, compiled', { adk: { required: 10 } }],
    ['templateFirst', 'template, from its text, first time', { adk: { required: 1.5, goal: 2 } }],
    ['templateAgain', 'template, from its text, again', { adk: { required: 4 } }],
  ]),
  ...rowsOf('operations', BOTH, [['remove', 'delete, 10 events']]),
  // ADK has none of these.
  ...rowsOf(
    'operations',
    ['statepad'],
    [
      ['getOrCreate', 'get or create, there is one'],
      ['appState', 'state of an app'],
      ['userState', 'state of a user'],
      ['update', 'update of a session by a function'],
      ['updateShared', 'update of an app by a function'],
      ['updateByOperator', 'update of a session by an operator'],
      ['stateAt', 'state at an earlier revision, first time'],
      ['history', 'history of a key, first time'],
      ['sharedHistory', 'history of an app key, first time'],
      ['trim', 'trimming the history of an app'],
      ['rewind', 'rewind by four events'],
      ['redo', 'undo of a rewind'],
      ['fork', 'fork at the 5th of 10 events'],
      ['lease', 'lease, taken and released'],
      ['watch', 'append, until a reader has it'],
      ['renderAsync', 'template, compiled, by a promise'],
      ['event', 'createEvent'],
      ['change', 'a change applied to a whole session'],
      ['output', 'outputDelta'],
    ],
  ),
  ...rowsOf('turn', BOTH, [['turn', "a turn of ADK's Runner, 1,000 events"]]),
  ...rowsOf('memory', ALL, [
    ['memoryEvent', 'memory of an event'],
    ['memorySession', 'memory of a session'],
    ['memoryHandle', 'memory of a handle, state read'],
    ['memoryKey', 'memory of an app key'],
  ]).map((row) => ({ ...row, unit: 'bytes', rounds: 1 })),
];

/** The row of an id. */
export function rowOf(id) {
  const row = ROWS.find((each) => each.id === id);
  if (row === undefined) throw new Error(`there is no row ${id}; there are ${ROWS.map((each) => each.id).join(', ')}`);
  return row;
}

/** Rows that must not depend on the amount of data: each at most so many times another one, both of them ours. */
export const FLAT = [
  { id: 'appendAt10000', of: 'appendAt10', required: 1.3 },
  { id: 'appendAt100000', of: 'appendAt10', required: 1.5 },
  { id: 'keys10000', of: 'keys10', required: 1.3 },
  { id: 'keys10Handles', of: 'keys10', required: 1.3 },
  { id: 'keys10000Handles', of: 'keys10', required: 1.3 },
  { id: 'listFirst100000', of: 'listFirst1000', required: 2 },
  { id: 'listCursor100000', of: 'listCursor1000', required: 2 },
  { id: 'listOffset100000', of: 'listOffset1000', required: 2 },
  { id: 'getAt100000', of: 'get', required: 1.5 },
];

/** From nothing to the first session, above what node itself takes to start. */
export const COLD = { id: 'cold', what: 'cold start, above that of node', adk: { required: 20 } };

/** The most bytes, brotli, that a page may have to download at first. */
export const BUNDLE = { id: 'bundle', what: 'browser bundle, first load, brotli', required: 48_000, goal: 42_000 };

/** The start of a process that imports an entry, and what a page loads of it at first: a line for each entry. */
export const ENTRIES = { id: 'entries', what: 'start and first load of each entry' };
