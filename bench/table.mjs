/** The results as lines of one table. */

import { BUNDLE, COLD, FLAT, ROWS, rowOf } from './rows.mjs';

const HEAD = ['what', 'statepad', 'adk-js', 'pure JS', 'vs adk', 'vs pure', 'required', 'goal', 'met?'];

/** Three digits and a unit. */
function duration(nanoseconds) {
  if (nanoseconds === undefined) return '';
  const [unit, size] = nanoseconds < 1e3 ? ['ns', 1] : nanoseconds < 1e6 ? ['µs', 1e3] : ['ms', 1e6];
  return `${number(nanoseconds / size)} ${unit}`;
}

const number = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(value < 1 ? 2 : 3).replace(/\.0+$/u, '');
const bytes = (value) => (value === undefined ? '' : `${Math.round(value).toLocaleString('en')} B`);
const times = (value) => (Number.isFinite(value) ? `${number(value)}x` : '');

/** Both ratios of a row say how many times better ours is. */
function compared({ what, adk, pure }, values, format) {
  const over = { adk: values.adk / values.statepad, pure: values.pure / values.statepad };
  const aims = [
    { side: 'adk', ...adk },
    // An aim of at most so many times the time of plain JavaScript, told as the ratio that the table shows.
    { side: 'pure', required: pure && 1 / pure.required, goal: pure?.goal && 1 / pure.goal },
  ].filter(({ required, side }) => required !== undefined && Number.isFinite(over[side]));
  const cell = (name) =>
    aims
      .filter((aim) => aim[name] !== undefined)
      .map((aim) => `${times(aim[name])}${aim.side === 'pure' ? ' pure' : ''}`)
      .join(', ');
  const reached = (name) => aims.every((aim) => aim[name] === undefined || over[aim.side] >= aim[name]);
  return [
    what,
    format(values.statepad),
    format(values.adk),
    format(values.pure),
    times(over.adk),
    times(over.pure),
    cell('required'),
    cell('goal'),
    aims.length === 0 ? '' : verdict(reached('required'), reached('goal')),
  ];
}

/** A required aim that is met, and a goal that is, too. */
function verdict(isMet, isGoal) {
  return isMet ? (isGoal ? 'yes' : 'yes, not goal') : 'NO';
}

/** A line of a figure of ours that must not exceed another one by more than so many times. */
function flat({ id, of, required }, rows) {
  const [more, less] = [rows[id], rows[of]];
  const ratio = (side) => more[side]?.value / less[side]?.value;
  return [
    `${rowOf(id).what} / ${rowOf(of).what}`,
    times(ratio('statepad')),
    times(ratio('adk')),
    times(ratio('pure')),
    '',
    '',
    `<= ${times(required)}`,
    '',
    verdict(ratio('statepad') <= required, true),
  ];
}

const valuesOf = (figures) =>
  Object.fromEntries(Object.entries(figures).map(([side, figure]) => [side, figure?.value]));

/** The time of a cold start above that of node alone, which is the same for both. */
function aboveNode(cold) {
  const { statepad, adk, bare } = valuesOf(cold);
  return { statepad: statepad - bare, adk: adk - bare };
}

/** The parts of a turn. */
function partsOfTurn(turn) {
  const part = (of) => Object.fromEntries(Object.entries(turn).map(([side, figure]) => [side, of(figure)]));
  return [
    compared(
      { what: '  of it in calls of the service' },
      part(({ service }) => service),
      duration,
    ),
    compared(
      { what: '  of it in ADK itself' },
      part(({ value, service }) => value - service),
      duration,
    ),
  ];
}

/** The bundle by its parts, compressed one by one. */
function partsOfBundle({ statepad, adk, module, script, later }) {
  const line = (what, ours, theirs) => [what, bytes(ours), bytes(theirs), '', '', '', '', '', ''];
  const { what, required, goal } = BUNDLE;
  return [
    [
      ...line(what, statepad.brotli, adk?.brotli).slice(0, 6),
      `<= ${bytes(required)}`,
      `<= ${bytes(goal)}`,
      verdict(statepad.brotli <= required, statepad.brotli <= goal),
    ],
    line('  of it the module, brotli', module.brotli),
    line('  of it script, brotli', script.brotli),
    line('  loaded later, brotli', later.brotli),
    line('browser bundle, first load, gzip', statepad.gzip, adk?.gzip),
    line('browser bundle, first load, raw', statepad.raw, adk?.raw),
  ];
}

/** A line for each entry: how long its import takes in a process of its own, and what a page loads of it. */
function linesOfEntries({ sizes, starts }) {
  const line = (what, ours) => [what, ours, '', '', '', '', '', '', ''];
  return [
    ...starts.map(({ name, value }) => line(`import of ${name}, above node`, duration(Math.max(value, 0)))),
    ...sizes.map(({ name, first }) => line(`first load of ${name}, brotli`, bytes(first))),
  ];
}

/** Every line of the table as a list of cells: of all that has been measured. */
export function lines({ rows, cold, sizes, entries }) {
  const measured = ROWS.filter(({ id }) => rows[id] !== undefined);
  return [
    ...measured.flatMap((row) => [
      compared(row, valuesOf(rows[row.id]), row.unit === 'bytes' ? bytes : duration),
      ...(row.id === 'turn' ? partsOfTurn(rows.turn) : []),
    ]),
    ...FLAT.filter(({ id, of }) => rows[id] !== undefined && rows[of] !== undefined).map((each) => flat(each, rows)),
    ...(cold === undefined ? [] : [compared(COLD, aboveNode(cold), duration)]),
    ...(sizes === undefined ? [] : partsOfBundle(sizes)),
    ...(entries === undefined ? [] : linesOfEntries(entries)),
  ];
}

/** The table as text. */
export function table(results) {
  const cells = [HEAD, ...lines(results)];
  const widths = HEAD.map((_, column) => Math.max(...cells.map((line) => line[column].length)));
  const text = cells.map((line) =>
    line.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('  '),
  );
  text.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  return text.map((line) => line.trimEnd()).join('\n');
}

/** The notes that a reader of the table needs. */
export function notes({ cold, sizes, about }) {
  return [
    'vs adk, vs pure: how many times as fast or as small ours is; required and goal are of adk-js unless they say pure',
    'pure JS: what plain JavaScript does with the same design and the same checks of what comes in (bench/pure/)',
    'adk-js has nothing to compile a template to: its rows are injectSessionState; the rows of its lists have no state',
    ...(cold === undefined ? [] : [coldNote(valuesOf(cold))]),
    ...(sizes === undefined ? [] : sizeNotes(sizes)),
    `${about}; medians, each figure from processes of its own; machines like this are noisy: look at the ratios`,
  ];
}

const coldNote = ({ statepad, adk, bare }) =>
  `cold start: a whole process takes ${duration(statepad)} against ${duration(adk)}; node alone ${duration(bare)}`;

function sizeNotes({ faults }) {
  const own = faults.filter((fault) => fault.includes('@google/adk'));
  return faults.length === 0
    ? []
    : [
        `browser bundle of adk-js: InMemorySessionService and injectSessionState of its web build do not bundle, ${faults.length} imports fail, ` +
          `${own.length} of them its own (${own[0] ?? faults[0]}); the bytes are those of the two modules alone without what is Node's: they would not run`,
      ];
}
